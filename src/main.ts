/** The command line: parses it, runs one command, and turns its end into words and an exit code. */
import { run } from "./cli/run.ts"

// DuckDB makes files of its own, and no library asks us: what this process writes is its user's alone.
process.umask(0o077)
await run(process.argv.slice(2))
