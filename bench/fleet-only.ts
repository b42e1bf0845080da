/** Loaded before sluice: its syncs read the tables in BENCH_ONLY alone. */
if (process.argv[2] === "sync") process.argv.push("--only", process.env["BENCH_ONLY"]!)
