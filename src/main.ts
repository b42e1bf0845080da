/** The command line: parses it, runs one command, and turns its end into words and an exit code. */
import { enableCompileCache } from "node:module"

// DuckDB makes files of its own, and no library asks us: what this process writes is its user's alone.
process.umask(0o077)
// Half of the start-up is compiling; what was compiled once is kept.
enableCompileCache()
const { run } = await import("./cli/run.ts")
await run(process.argv.slice(2))
