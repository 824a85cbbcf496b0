//! The file: who may read it, what is left of it, who waits for whom.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::world::{World, agreeing};
use crate::store::Store;
use crate::{Error, ErrorKind, FileStore, Key, Secret, internal};

/// A folder that ends with its test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("snodo-oauth-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        Self(std::env::temp_dir().join(name))
    }

    fn file(&self) -> PathBuf {
        self.0.join("deep").join("credentials.json")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key(n: usize) -> Key {
    Key::tokens("https://mcp", "https://as", &n.to_string())
}

// AUTH-79
#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_may_read_the_file_and_the_folders_made_for_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let store = FileStore::new(folder.file());
    assert!(store.load(&key(1)).await.expect("nothing is no error").is_none());
    // What somebody else left there is not written into.
    fs::create_dir_all(folder.file().parent().expect("a folder")).expect("a folder");
    fs::write(folder.0.join("deep/credentials.json.new"), "left over").expect("written");
    let open = fs::Permissions::from_mode(0o666);
    fs::set_permissions(folder.0.join("deep/credentials.json.new"), open).expect("set");
    store.save(&key(1), Some(&Secret::new("one"))).await.expect("saved");
    let mode = |path: PathBuf| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(folder.file()), 0o600);

    let fresh = Folder::new();
    FileStore::new(fresh.file()).save(&key(1), Some(&Secret::new("one"))).await.expect("saved");
    assert_eq!((mode(fresh.0.join("deep")), mode(fresh.file())), (0o700, 0o600));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_many_save_at_once_is_all_there() {
    let folder = Folder::new();
    let saves = (0..40).map(|n| {
        // Each as if in a process of its own.
        let store = FileStore::new(folder.file());
        tokio::spawn(async move { store.save(&key(n), Some(&Secret::new(n.to_string()))).await })
    });
    for save in saves.collect::<Vec<_>>() {
        save.await.expect("no panic").expect("saved");
    }
    let store = FileStore::new(folder.file());
    for n in 0..40 {
        let found = store.load(&key(n)).await.expect("read").expect("there");
        assert_eq!(found.expose(), n.to_string());
    }
    store.save(&key(7), None).await.expect("forgotten");
    assert!(store.load(&key(7)).await.expect("read").is_none());
    assert!(store.load(&key(8)).await.expect("read").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_lock_keeps_others_out_of_the_same_and_of_nothing_else() {
    let folder = Folder::new();
    let (one, other) = (FileStore::new(folder.file()), FileStore::new(folder.file()));
    let held = one.lock(&key(1)).await.expect("free");
    drop(other.lock(&key(2)).await.expect("another one"));
    other.save(&key(1), Some(&Secret::new("x"))).await.expect("saved meanwhile");
    let order = Arc::new(AtomicUsize::new(0));
    let seen = order.clone();
    let waiting = tokio::spawn(async move {
        let lock = other.lock(&key(1)).await.expect("free in the end");
        let before = seen.load(Ordering::SeqCst);
        drop(lock);
        before
    });
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    order.store(1, Ordering::SeqCst);
    drop(held);
    assert_eq!(waiting.await.expect("no panic"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_never_given_back_is_waited_for_only_so_long() {
    let folder = Folder::new();
    let (one, other) = (FileStore::new(folder.file()), FileStore::new(folder.file()));
    let _held = one.lock(&key(1)).await.expect("free");
    let before = tokio::time::Instant::now();
    let error = other.lock(&key(1)).await.expect_err("held for ever");
    assert_eq!(error.kind(), ErrorKind::Store);
    assert!(before.elapsed() < std::time::Duration::from_secs(31));
}

#[tokio::test]
async fn a_file_that_is_no_store_is_left_as_it_is() {
    let folder = Folder::new();
    fs::create_dir_all(folder.file().parent().expect("a folder")).expect("a folder");
    fs::write(folder.file(), "[my own notes, s3cret]").expect("written");
    let store = FileStore::new(folder.file());
    for outcome in [store.load(&key(1)).await.err(), store.save(&key(1), None).await.err()] {
        let error: Error = outcome.expect("no store");
        assert_eq!(error.kind(), ErrorKind::Store);
        assert!(
            error.message().contains("credentials.json") && !error.message().contains("s3cret")
        );
    }
    assert_eq!(fs::read_to_string(folder.file()).expect("there"), "[my own notes, s3cret]");
}

/// Set for the run in a process of its own, which may write but one block into a file.
#[cfg(unix)]
const ALONE: &str = "SNODO_OAUTH_FULL_DISK";

#[cfg(unix)]
#[test]
fn on_a_disk_that_is_full_what_was_kept_stays_and_nothing_is_left_beside_it() {
    let Some(folder) = std::env::var_os(ALONE) else {
        let name = "tests::files::\
                    on_a_disk_that_is_full_what_was_kept_stays_and_nothing_is_left_beside_it";
        let folder = Folder::new();
        // A write past the limit fails instead of ending the process, as one on a full disk does.
        let run = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"])
            .arg(std::env::current_exe().expect("this program"))
            .args(["--exact", name, "--nocapture"])
            .env(ALONE, &folder.0)
            .output()
            .expect("it starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let files = fs::read_dir(&folder.0).expect("a folder").count();
        assert_eq!(files, 2, "the store and its lock");
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = FileStore::new(PathBuf::from(folder).join("credentials.json"));
        store.save(&key(1), Some(&Secret::new("one"))).await.expect("there is room");
        let long = Secret::new("l0ng".repeat(4096));
        let error = store.save(&key(2), Some(&long)).await.expect_err("there is no room");
        assert_eq!(error.kind(), ErrorKind::Store);
        assert!(error.message().contains("credentials.json: File too large"), "{error}");
        assert!(!error.message().contains("l0ng"));
        let kept = store.load(&key(1)).await.expect("read").expect("as it was");
        assert_eq!(kept.expose(), "one");
        assert!(store.load(&key(2)).await.expect("read").is_none());
        store.save(&key(1), Some(&Secret::new("two"))).await.expect("there is room for this");
    });
}

// AUTH-143, AUTH-147
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_share_a_file_spend_a_refresh_token_once() {
    let (world, folder) = (World::new().await, Folder::new());
    let process = || agreeing().store(FileStore::new(folder.file())).build();
    world.call(&process()).await.expect("an answer");
    let processes: Vec<_> = (0..6).map(|_| process()).collect();
    for oauth in &processes {
        world.call(oauth).await.expect("each has read the file");
    }
    world.state().access.clear();
    let world = Arc::new(world);
    let calls = processes.into_iter().map(|oauth| {
        let world = world.clone();
        tokio::spawn(async move { world.call(&oauth).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic").expect("an answer");
    }
    assert_eq!(world.asked()[3..], ["refresh_token"]);
    let kept = internal::kept(FileStore::new(folder.file()), "snodo", &world.mcp.url()).await;
    let kept = kept.expect("read").expect("kept");
    assert!(world.state().refresh.contains_key(&kept.refresh.expect("the new one")));
}
