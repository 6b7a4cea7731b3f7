//! Finds the library; src/lib.rs says how.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    for name in [
        "PARLANCE_LIB_DIR",
        "PARLANCE_STATIC",
        "PKG_CONFIG",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG_LIBDIR",
        "PKG_CONFIG_SYSROOT_DIR",
        "CMAKE",
        "CXX",
        "CC",
        "DOCS_RS",
    ] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    // Documentation links nothing.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    if let Some(folders) = env::var_os("PARLANCE_LIB_DIR") {
        link_folders(env::split_paths(&folders));
    } else if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        bundled();
    } else if let Err(why) = pkg_config() {
        panic!(
            "libparlance-c was not found ({why}).\n\
             Install it, with parlance-c.pc where pkg-config looks; or name its folder in\n\
             PARLANCE_LIB_DIR; or compile it, with the feature \"bundled\"."
        );
    }
}

fn link_folders(folders: impl Iterator<Item = PathBuf>) {
    for folder in folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
        let include = folder.join("../include");
        if include.join("parlance_c.h").exists() {
            println!("cargo:include={}", include.display());
        }
    }
    if env::var("PARLANCE_STATIC").is_ok_and(|value| value != "0") {
        link_archives();
    } else {
        println!("cargo:rustc-link-lib=dylib=parlance-c");
    }
}

fn link_archives() {
    for name in ["parlance-c", "parlance"] {
        println!("cargo:rustc-link-lib=static={name}");
    }
    println!("cargo:rustc-link-lib=pcre2-8");
    link_runtime();
}

/// The C++ runtime of the target, which is not the machine that compiles.
fn link_runtime() {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    match (target("OS").as_str(), target("ENV").as_str()) {
        (_, "msvc") => {}
        ("macos" | "ios" | "freebsd" | "openbsd", _) => println!("cargo:rustc-link-lib=dylib=c++"),
        // A program for musl is static.
        (_, "musl") => println!("cargo:rustc-link-lib=static=stdc++"),
        _ => println!("cargo:rustc-link-lib=dylib=stdc++"),
    }
}

fn pkg_config() -> Result<(), String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let ask = |what: &[&str]| -> Result<String, String> {
        let done = Command::new(&program)
            .args(what)
            .arg("parlance-c")
            .output()
            .map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
        if done.status.success() {
            Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&done.stderr).trim().to_owned())
        }
    };
    for word in ask(&["--libs"])?.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        }
    }
    let include = ask(&["--variable=includedir"])?;
    if !include.is_empty() {
        println!("cargo:include={include}");
    }
    Ok(())
}

fn bundled() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = here.join("bundled");
    let source = folder.join("source");
    assert!(
        source.join("parlance/CMakeLists.txt").exists(),
        "{} has no sources: a checkout has them elsewhere; scripts/package crates puts them into\n\
         the packed crate",
        source.display()
    );
    println!("cargo:rerun-if-changed=bundled");
    let build = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("build");
    let cmake = env::var_os("CMAKE").unwrap_or_else(|| "cmake".into());
    let run = |command: &mut Command| {
        let status = command.status().unwrap_or_else(|error| {
            panic!("{}: {error}; the feature \"bundled\" needs CMake", cmake.to_string_lossy())
        });
        assert!(status.success(), "CMake ended with {status}");
    };
    let mut configure = Command::new(&cmake);
    configure.arg("-S").arg(&folder).arg("-B").arg(&build).arg("-DCMAKE_BUILD_TYPE=Release");
    // A profile that compiles quickly compiles this quickly, too; without any
    // optimisation masks would take too long.
    let quick = matches!(env::var("OPT_LEVEL").as_deref(), Ok("0" | "1"));
    let msvc = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|name| name == "msvc");
    if quick && !msvc {
        configure.arg("-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG");
    }
    // CMake names systems its own way.
    let (host, target) = (env::var("HOST"), env::var("TARGET"));
    if host != target {
        let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
        let system = match os.as_str() {
            "linux" => "Linux",
            "windows" => "Windows",
            "macos" => "Darwin",
            "ios" => "iOS",
            "android" => "Android",
            "freebsd" => "FreeBSD",
            other => other,
        };
        let machine = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
        configure.arg(format!("-DCMAKE_SYSTEM_NAME={system}"));
        configure.arg(format!("-DCMAKE_SYSTEM_PROCESSOR={machine}"));
    }
    run(&mut configure);
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
    run(Command::new(&cmake).arg("--build").arg(&build).args([
        "--config",
        "Release",
        "--target",
        "parlance_bundled",
        "-j",
        &jobs,
    ]));
    println!("cargo:rustc-link-search=native={}", build.join("lib").display());
    println!("cargo:include={}", source.join("parlance/include").display());
    for name in ["parlance-c", "parlance", "pcre2-8"] {
        println!("cargo:rustc-link-lib=static={name}");
    }
    link_runtime();
}
