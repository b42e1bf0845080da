import { parseArgs } from "node:util"
import { type Flags, flags, readOptions } from "./flags.ts"
import { startSandbox } from "./server.ts"

/** Runs the sandbox until a signal. Resolves with the exit code: 0, 1 if it cannot listen, 2 for an invalid flag. */
export const runSandbox = async (argv: ReadonlyArray<string>): Promise<number> => {
  let options
  try {
    const { values } = parseArgs({ args: [...argv], options: flags, allowPositionals: false })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    options = readOptions(values as Flags)
  } catch (error) {
    process.stderr.write(`sandbox: ${(error as Error).message} See --help.\n`)
    return 2
  }
  try {
    const { agencyToken, close, companyId, files, locationId, token, url, ...oauth } = await startSandbox(options)
    const { clientId, clientSecret, refreshToken } = oauth
    const access = { url, token, locationId, companyId, clientId, clientSecret, refreshToken, agencyToken, files }
    process.stdout.write(`${JSON.stringify(access)}\n`)
    process.stderr.write(`sandbox: serving the Account Platform at ${url}, stop with Ctrl-C\n`)
    await new Promise((resolve) => {
      process.once("SIGINT", resolve)
      process.once("SIGTERM", resolve)
    })
    await close()
    return 0
  } catch (error) {
    process.stderr.write(`sandbox: ${(error as Error).message}\n`)
    return 1
  }
}

/** Breaks a description between words, for 80 columns. */
const inLines = (description: string): string =>
  description.replaceAll(/(.{1,53})(?: |$)/g, `$1\n${" ".repeat(27)}`).trimEnd()

const help = `Example:
  ./sluice sandbox --port 8787 --contacts 200000 --limits off

Serves the documented Account Platform from memory. Prints one line of JSON when
it listens: url, token, locationId, companyId, and the credentials of
POST /oauth/token.

${Object.entries(flags)
  .map(([name, { description }]) => `  --${name.padEnd(22)} ${inLines(description)}\n`)
  .join("")}`

if (import.meta.main) process.exitCode = await runSandbox(process.argv.slice(2))
