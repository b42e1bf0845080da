/** The entry point of the command line. */
import { run } from "./cli/run.ts"

// DuckDB and other libraries create files with the default mode, which must keep them private to the user.
process.umask(0o077)
await run(process.argv.slice(2))
