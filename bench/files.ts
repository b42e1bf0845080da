/**
 * Time and CPU of fetching the files behind the links of messages, and of `curl --parallel` for the same files from the same
 * host, in pairs; and of a second sync, which has nothing to fetch. curl has to be installed.
 *
 *     node_modules/.bin/node bench/files.ts [files] [bytes] [pairs]
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { median, newFolder, run, runProgram, startSandbox } from "./measure.ts"

const files = Number(process.argv[2] ?? 20_000)
const bytes = Number(process.argv[3] ?? 50_000)
const pairs = Number(process.argv[4] ?? 3)

const sandbox = await startSandbox(
  ..."--limits off --contacts 200 --messages-with-files 1 --files".split(" "),
  ...`--messages ${Math.ceil(files * 1.1)} --file-bytes ${bytes} --file-contents ${files}`.split(" ")
)
try {
  const folder = newFolder()
  const lines = (await (await fetch(`${sandbox.url}/__sandbox/files`)).text()).split("\n").filter(Boolean)
  const links = lines
    .map((line) => JSON.parse(line) as { readonly collection: string; readonly url: string })
    .filter(({ collection }) => collection === "messages")
  const curl = async (target: string) => {
    mkdirSync(target)
    const urls = links.map(({ url }, index) => `url = "${url}"\noutput = "${join(target, String(index))}"\n`)
    writeFileSync(join(folder, "urls"), urls.join(""))
    return runProgram("curl", ["--silent", "--parallel", "--config", join(folder, "urls")], {})
  }
  const sluice = async (environment: Readonly<Record<string, string>>) => {
    await run(
      ["sync", "--only", "messages,conversations", "--except", "emails,recordings,transcript_sentences"],
      environment
    )
    return run(["sync", "--only", "files"], { ...environment, SLUICE_FILES: "message_attachments" })
  }
  const ratios: Array<number> = []
  for (let pair = 0; pair < pairs; pair++) {
    // Files are created more slowly where thousands have just been removed.
    const target = join(folder, `curl-${pair}`)
    const output = join(folder, `output-${pair}`)
    const environment = { ...sandbox.environment, SLUICE_OUTPUT: output, SLUICE_FORMATS: "none" }
    const [other, own] =
      pair % 2 === 0
        ? [await curl(target), await sluice(environment)]
        : await sluice(environment).then(async (own) => [await curl(target), own])
    const again = await run(["sync", "--only", "files"], { ...environment, SLUICE_FILES: "message_attachments" })
    ratios.push(other!.seconds / own!.seconds)
    console.log(
      `${links.length} links, ${readdirSync(target).length} files of ${bytes} bytes: curl ${other!.seconds.toFixed(1)} s, ` +
        `sluice ${own!.seconds.toFixed(1)} s (CPU ${own!.cpuSeconds.toFixed(1)} s, ${Math.round(own!.peakMb)} MB), again ${again.seconds.toFixed(1)} s`
    )
  }
  console.log(`time of curl / time of sluice, median of ${pairs} pairs: ${median(ratios).toFixed(2)}`)
} finally {
  sandbox.stop()
}
