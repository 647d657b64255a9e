//! Identifies the text of a file by metadata, and decides if the metadata can be trusted.
//!
//! *Law.* While a *settled* [`Stamp`] stays the same, so does the text. A stamp contains the time
//! of the last change of any kind (`ctime`), which no program can set: writing into the file,
//! setting its times, replacing or renaming it moves that time. It moves in ticks of a clock, so a
//! text changed a moment ago may change again within the same tick. A stamp is settled if it is
//! [`SETTLED_AGE`] old before the text is read. Git calls the others racily clean.
//!
//! Stamps exist only if the file system takes this time from the clock of this machine, with a
//! resolution below a second ([`system`]). Without a stamp, the text must be read. A file with a
//! time in the future (the clock was set back) is not settled.
//!
//! Two changes are invisible: writes through a memory mapping, which move the time only when the
//! system notices, and a single call that overwrites a file for longer than the margin.

use std::fs::{File, Metadata};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Minimum age of a settled stamp. No file system clock has longer ticks.
const SETTLED_AGE: Duration = Duration::from_secs(2);

/// Distinguishes the texts of a file: device, inode, size, and the times of the last change of the
/// text and of the last change of any kind, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Stamp(u64, u64, u64, i64, i64);

impl Stamp {
    /// The stamp of an open file whose text is read next, if it is settled at the time `before`.
    pub(crate) fn settled(file: &File, metadata: &Metadata, before: Moment) -> Option<Self> {
        let stamp = Self::of(metadata)?;
        (stamp.is_old(before) && system::keeps_time(file, stamp.0)).then_some(stamp)
    }

    fn is_old(&self, at: Moment) -> bool {
        self.4.checked_add(SETTLED_AGE.as_nanos() as i64).is_some_and(|it| it <= at.0)
    }

    /// A stamp from device, inode, size and two times in seconds and nanoseconds. `None` if the
    /// last change is at a whole second: the file system then has no parts of seconds, except for
    /// one file in a billion.
    #[cfg(any(target_os = "linux", test))]
    fn new(
        device: u64,
        inode: u64,
        size: u64,
        written: (i64, i64),
        changed: (i64, i64),
    ) -> Option<Self> {
        let nanoseconds =
            |it: (i64, i64)| it.0.checked_mul(1_000_000_000).and_then(|all| all.checked_add(it.1));
        let (written, of_change) = (nanoseconds(written)?, nanoseconds(changed)?);
        (changed.1 != 0).then_some(Self(device, inode, size, written, of_change))
    }

    /// The stamp of a regular file, settled or not.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        if metadata.is_file() { system::stamp(metadata) } else { None }
    }
}

/// A time by the clock of this machine, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Moment(i64);

impl Moment {
    /// The current time; 0 if the clock is invalid.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_nanos()).unwrap_or_default())
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashMap;
    use std::fs::{File, Metadata};
    use std::os::unix::fs::MetadataExt;
    use std::sync::{Mutex, PoisonError};

    use super::Stamp;

    /// Magic numbers of file systems that use the clock of this machine: Btrfs, bcachefs, ext2 to
    /// ext4, F2FS, overlays of these, tmpfs, XFS and ZFS. Network file systems, other systems and
    /// FUSE may use another clock or mix up the two times.
    const LOCAL: [u64; 8] = [
        0x9123_683e,
        0xca45_1a4e,
        0xef53,
        0xf2f5_2010,
        0x794c_7630,
        0x0102_1994,
        0x5846_5342,
        0x2fc1_2fc1,
    ];

    /// Cached by device.
    static KNOWN: Mutex<Option<HashMap<u64, bool>>> = Mutex::new(None);

    pub(super) fn keeps_time(file: &File, device: u64) -> bool {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_with(HashMap::new);
        *known.entry(device).or_insert_with(|| {
            // The type of this field depends on the processor; 32 bits of it count.
            let kind = |it: rustix::fs::StatFs| it.f_type as u64 & 0xffff_ffff;
            rustix::fs::fstatfs(file).is_ok_and(|it| LOCAL.contains(&kind(it)))
        })
    }

    pub(super) fn stamp(it: &Metadata) -> Option<Stamp> {
        let (written, changed) = ((it.mtime(), it.mtime_nsec()), (it.ctime(), it.ctime_nsec()));
        Stamp::new(it.dev(), it.ino(), it.size(), written, changed)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::{File, Metadata};

    use super::Stamp;

    pub(super) fn keeps_time(_: &File, _: u64) -> bool {
        false
    }

    pub(super) fn stamp(_: &Metadata) -> Option<Stamp> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn stamps_of_old_files_are_settled() {
        let stamp = Stamp::new(1, 2, 3, (0, 0), (10, 5)).expect("it has parts of a second");
        let at = |nanoseconds| stamp.is_old(Moment(nanoseconds));
        assert!(!at(0) && !at(10 * SECOND + 5) && !at(12 * SECOND + 4));
        assert!(at(12 * SECOND + 5) && at(i64::MAX));
        // A time in the future or an invalid time.
        let late = Stamp::new(1, 2, 3, (0, 0), (i64::MAX / SECOND, 1)).expect("it fits");
        assert!(!late.is_old(Moment(i64::MAX - 2 * SECOND)));
        assert_eq!(Stamp::new(1, 2, 3, (0, 0), (i64::MAX, 1)), None);
    }

    #[test]
    fn file_systems_without_parts_of_seconds_have_no_stamps() {
        assert_eq!(Stamp::new(1, 2, 3, (7, 8), (9, 0)), None);
        let stamp = |size, written, changed| Stamp::new(1, 2, size, written, changed);
        let one = stamp(3, (7, 8), (9, 1));
        assert!(one.is_some() && one == stamp(3, (7, 8), (9, 1)));
        for other in [stamp(4, (7, 8), (9, 1)), stamp(3, (7, 9), (9, 1)), stamp(3, (7, 8), (9, 2))]
        {
            assert_ne!(one, other);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_regular_files_have_stamps() {
        let of = |path: &str| Stamp::of(&std::fs::metadata(path).expect("there"));
        assert_eq!((of("/dev/null"), of("/")), (None, None));
    }
}
