"""Lets the attachments be kept by a real S3 service, moto, that checks signatures: the contract of the port, wrong keys, a
bucket that is not there, an object that somebody changed.

Usage: objects.py PROGRAM, the example `objects_in_bucket`. Ends with `N passed, N failed` of the program.
"""

import hashlib
import logging
import os
import subprocess
import sys
import threading

# Before anything is imported: so many calls are made below as an administrator; those after them need a signature.
SET_UP = 4
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(SET_UP)
os.environ.update(AWS_ACCESS_KEY_ID="setup", AWS_SECRET_ACCESS_KEY="setup", AWS_DEFAULT_REGION="us-east-1")

import boto3  # noqa: E402
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

PROGRAM = sys.argv[1]
BUCKET = "attachments"
POLICY = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}'


def served():
    """The service on a port of this machine alone. It answers one after the other: moto trips over itself where one key is
    put twice at once."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def main():
    server, endpoint = served()
    try:
        iam = boto3.client("iam", endpoint_url=endpoint)
        iam.create_user(UserName="tulving")
        iam.put_user_policy(UserName="tulving", PolicyName="objects", PolicyDocument=POLICY)
        key = iam.create_access_key(UserName="tulving")["AccessKey"]
        boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket=BUCKET)
        keys = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        # Somebody puts other bytes under a key.
        digest = hashlib.sha256(b"bytes").hexdigest()
        damaged = f"sha256/{digest[:2]}/{digest}"
        somebody = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"]).client("s3", endpoint_url=endpoint)
        somebody.put_object(Bucket=BUCKET, Key=f"damaged/{damaged}", Body=b"others")
        environment = {**os.environ, **keys}
        runs = [[], [damaged]]
        ended = [subprocess.run([PROGRAM, endpoint, BUCKET, *run], env=environment, timeout=300).returncode for run in runs]
    finally:
        server.shutdown()
    sys.exit(1 if any(ended) else 0)


main()
