/** The entry point of the command line. */
import { sluiceVersion } from "./values/version.ts"

// DuckDB and other libraries create files with the default mode, which must keep them private to the user.
process.umask(0o077)
const args = process.argv.slice(2)
// Tools that only look whether sluice is installed do not wait for its libraries.
if (args.length === 1 && args[0] === "--version") console.log(`sluice ${sluiceVersion}`)
else await (await import("./cli/run.ts")).run(args)
