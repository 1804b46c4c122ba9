//! Runs the contract of attachments on a real bucket: `objects_in_bucket ENDPOINT BUCKET`, with the keys of the bucket in the
//! environment. With a key as a third argument, only checks that the object is damaged.
//!
//! The suite `clients` runs it on a service of its own. Ends with `N passed, N failed`.
#![expect(clippy::print_stdout, reason = "a command that people run; printing is its job")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tulving_core::model::error::ObjectError;
use tulving_core::model::space::Secret;
use tulving_core::ports::Objects;
use tulving_store::objects::{S3Config, S3Keys, S3Objects};
use tulving_testkit::objects::{contract, hash};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, bucket, damaged @ ..] = &arguments[..] else {
        println!("usage: objects_in_bucket ENDPOINT BUCKET [KEY]");
        return ExitCode::from(2);
    };
    let keys = S3Keys::from_variables(|name| std::env::var(name).ok()).expect("keys in the environment");
    let config = S3Config {
        bucket: bucket.clone(),
        region: "us-east-1".to_owned(),
        endpoint: Some(endpoint.clone()),
        prefix: "attachments".to_owned(),
        allow_http: true,
        keys,
        time_out: Duration::from_secs(20),
        lock: std::env::temp_dir().join("tulving-objects-lock"),
    };
    let mut tally = ContractCounts::default();
    match damaged {
        [key] => tally.check("damaged", || is_damaged(&config, key)),
        _ => {
            for (name, check) in contract::ALL {
                tally.check(name, || keeps(&config, name, *check));
            }
            tally.check("wrong keys", || wrong_keys_are_denied(&config));
            tally.check("no such bucket", || a_bucket_that_is_not_there_is_missing(&config));
        }
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    ExitCode::from(u8::from(tally.failed > 0))
}

#[derive(Default)]
struct ContractCounts {
    passed: usize,
    failed: usize,
}

impl ContractCounts {
    fn check(&mut self, name: &str, check: impl FnOnce()) {
        match catch_unwind(AssertUnwindSafe(check)) {
            Ok(()) => self.passed += 1,
            Err(_) => {
                self.failed += 1;
                println!("FAILED {name}");
            }
        }
    }
}

fn opened(config: &S3Config, prefix: &str) -> S3Objects {
    S3Objects::new(S3Config { prefix: prefix.to_owned(), ..config.clone() }).expect("well set up")
}

fn keeps(config: &S3Config, name: &str, check: contract::ObjectsContractCheck) {
    let made = Cell::new(0);
    check(&|| {
        made.set(made.get() + 1);
        Box::new(opened(config, &format!("{name}/{}", made.get())))
    });
}

fn wrong_keys_are_denied(config: &S3Config) {
    let id = std::env::var("AWS_ACCESS_KEY_ID").expect("it is set");
    let secret = |text: &str| Secret::new(text.to_owned());
    for keys in [
        S3Keys::new(secret(&id), secret("wrong"), None),
        S3Keys::new(secret("AKIANOBODY"), secret("wrong"), None),
    ] {
        let objects = S3Objects::new(S3Config { keys, ..config.clone() }).expect("well set up");
        let begun = Instant::now();
        let key = format!("sha256/{}/{}", &hash(b"bytes")[..2], hash(b"bytes"));
        for result in [objects.put(b"bytes", &hash(b"bytes")).map(drop), objects.get(&key).map(drop)] {
            let error = result.expect_err("the keys are wrong");
            assert!(matches!(error, ObjectError::Denied { .. }), "{error}");
        }
        assert!(begun.elapsed() < config.time_out, "{:?}", begun.elapsed());
    }
}

fn a_bucket_that_is_not_there_is_missing(config: &S3Config) {
    let bucket = format!("{}-not-there", config.bucket);
    let objects = S3Objects::new(S3Config { bucket, ..config.clone() }).expect("well set up");
    let key = format!("sha256/{}/{}", &hash(b"bytes")[..2], hash(b"bytes"));
    for result in [objects.put(b"bytes", &hash(b"bytes")).map(drop), objects.get(&key).map(drop)] {
        let error = result.expect_err("there is no such bucket");
        assert!(matches!(error, ObjectError::Missing { .. }), "{error}");
    }
}

fn is_damaged(config: &S3Config, key: &str) {
    let error = opened(config, "damaged").get(key).expect_err("it is not what it was");
    assert!(matches!(error, ObjectError::Damaged { .. }), "{error}");
}
