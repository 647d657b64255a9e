//! Combines configuration files and the command line into settings.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use noisy_output::shown_path;
use noisy_settings::{ConfigOrigin, ConfigResolver, Overrides, Settings};

use crate::input::args::SettingsArgs;
use crate::{EXIT_CLEAN, EXIT_FAILURE, print_error};

/// Returns the resolver of each file's settings.
///
/// # Errors
///
/// A mistake in the command line.
pub(crate) fn resolver(args: &SettingsArgs) -> Result<ConfigResolver, String> {
    let mut overrides = Overrides::default();
    let mut origin = if args.isolated { ConfigOrigin::NoFile } else { ConfigOrigin::Nearest };
    for it in &args.config {
        let shown = it.to_string_lossy();
        if let Some(set) = it.to_str().filter(|it| it.contains('=')) {
            overrides.set(set).map_err(|why| format!("--config '{shown}': {why}"))?;
        } else if origin == ConfigOrigin::Nearest {
            origin = ConfigOrigin::File(PathBuf::from(it));
        } else {
            return Err(format!("--config '{shown}': only one file, and none with --isolated"));
        }
    }
    let levels = [
        ("ignore", "off", &args.ignore),
        ("warn", "warning", &args.warn),
        ("error", "error", &args.error),
    ];
    for (option, level, rules) in levels {
        for rule in rules {
            let set = overrides.set(&format!("rules.\"{rule}\"=\"{level}\""));
            set.map_err(|why| format!("--{option} {rule}: {why}"))?;
        }
    }
    if let Some(seconds) = args.time_limit {
        let set = overrides.set(&format!("placement.time-limit={seconds:?}"));
        set.map_err(|why| format!("--time-limit {seconds}: {why}"))?;
    }
    if let Some(objective) = &args.objective {
        overrides.set(&format!("placement.objective=\"{objective}\""))?;
    }
    if args.replace {
        overrides.set("placement.replace=true")?;
    }
    if args.rewrite {
        overrides.set("rewrite.enabled=true")?;
    }
    let is_named = matches!(origin, ConfigOrigin::File(_));
    let resolver = ConfigResolver::new(origin, overrides);
    if is_named {
        // This file applies to every input, so no input is checked if it is invalid.
        resolver.config(Path::new("")).map_err(|it| it.to_string())?;
    }
    Ok(resolver)
}

/// The settings of a file.
///
/// # Errors
///
/// A mistake in its configuration.
pub(crate) fn settings(resolver: &ConfigResolver, file: &Path) -> Result<Arc<Settings>, String> {
    let config = resolver.config(file).map_err(|it| it.to_string())?;
    let settings = config.for_path(file);
    settings.map_err(|it| it.iter().map(ToString::to_string).collect::<String>())
}

/// `--show-settings`: prints the settings of a file as a complete configuration.
pub(crate) fn show_settings(
    resolver: &ConfigResolver,
    file: &Path,
    out: &mut dyn Write,
) -> io::Result<i32> {
    let settings = resolver.config(file).map_err(|it| it.to_string()).and_then(|config| {
        let settings = config
            .for_path(file)
            .map_err(|it| it.iter().map(ToString::to_string).collect::<String>());
        Ok((config, settings?))
    });
    match settings {
        Ok((config, settings)) => {
            let origin = config.path().map_or("the defaults".to_owned(), shown_path);
            writeln!(out, "# for {}\n# from {origin}", shown_path(file))?;
            for it in config.extended().iter().rev() {
                writeln!(out, "# which extends {}", shown_path(it))?;
            }
            write!(out, "{}", settings.to_toml())?;
            out.flush()?;
            Ok(EXIT_CLEAN)
        }
        Err(why) => {
            print_error(&format!("noisy-check: {why}"));
            Ok(EXIT_FAILURE)
        }
    }
}
