//! A small disk for a test, to be filled or made read-only.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A file system of its own, unmounted on drop.
pub(crate) struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts it, or returns `None` if mounting is not allowed.
    pub(crate) fn mount(kilobytes: u32, mode: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let options = format!("size={kilobytes}k,mode={mode:04o}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path());
        mount.output().ok().filter(|output| output.status.success()).map(|_| Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn make_read_only(&self) {
        let mut mount = Command::new("mount");
        mount.args(["-o", "remount,ro"]).arg(self.path());
        assert!(mount.status().expect("run").success(), "it could not be made read-only");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the disk could not be unmounted");
    }
}
