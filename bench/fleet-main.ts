/** sluice, whose syncs read the tables in BENCH_ONLY alone. A worker starts its runs with the entry point of its own. */
const only = process.env["BENCH_ONLY"]
if (process.argv[2] === "sync" && only !== undefined) process.argv.push("--only", only)
await import("../src/main.ts")
