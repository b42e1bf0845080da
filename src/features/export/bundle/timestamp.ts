/** A timestamp of a bundle (RFC 3161): an authority confirms when its checksums existed. openssl makes and reads the messages. */
import { throughProxy } from "../../../values/proxy.ts"
import { execFile } from "node:child_process"
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Building, seal } from "./sealed-files.ts"
import { signedName } from "./sign.ts"

/** The response of the authority, beside what it confirms. */
export const timestampName = `${signedName}.tsr`

const timeoutMs = 60_000
/** A response with its certificates has a few kB. */
const responseMax = 1024 * 1024

/** Rejects unless the authority confirmed the checksums of this bundle. */
export const timestamp = async (building: Building, authority: URL): Promise<void> => {
  const file = join(building.folder, signedName)
  const [query, response] = [`${file}.tsq`, join(building.folder, timestampName)]
  try {
    await openssl("-query", "-data", file, "-sha256", "-cert", "-out", query)
    await writeFile(response, await answerTo(await readFile(query), authority), { mode: 0o600 })
    const answer = await openssl("-reply", "-in", response, "-text")
    if (!/^Status: Granted/m.test(answer))
      throw new Error(`${authority.host} did not grant a timestamp: ${reasonIn(answer)}`)
    if (dataIn(answer) !== dataIn(await openssl("-query", "-in", query, "-text")))
      throw new Error(`${authority.host} confirmed other data than it was asked to`)
  } finally {
    await rm(query, { force: true })
  }
  await seal(building, timestampName)
}

const answerTo = async (query: Buffer, authority: URL): Promise<Buffer> => {
  const response = await fetch(authority, {
    method: "POST",
    headers: { "content-type": "application/timestamp-query", accept: "application/timestamp-reply" },
    body: new Uint8Array(query),
    signal: AbortSignal.timeout(timeoutMs)
  }).catch((cause: Error) => {
    throw new Error(
      `${authority.host} did not respond: ${cause.cause instanceof Error ? cause.cause.message : cause.message}${throughProxy(authority.href)}`
    )
  })
  const body = Buffer.from(await response.arrayBuffer())
  if (!response.ok) throw new Error(`${authority.host} responded with ${response.status}`)
  if (body.length > responseMax) throw new Error(`${authority.host} responded with ${body.length} bytes`)
  return body
}

const openssl = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { stdout } = await promisify(execFile)("openssl", ["ts", ...args], { timeout: timeoutMs }).catch(
    (cause: Error & { readonly stderr?: string }) => {
      throw new Error(`openssl ts ${args[0]}: ${(cause.stderr || cause.message).trim().split("\n")[0]}`)
    }
  )
  return stdout
}

/** The hash in hexadecimal digits: after `Message data:`, openssl prints 16 bytes a line, between an offset and the text. */
const dataIn = (text: string): string => {
  const [, lines = ""] = /^Message data:\n((?: {4}[0-9a-f]{4} - .*\n)+)/m.exec(text) ?? []
  return lines
    .split("\n")
    .map((line) => line.slice(11, 58))
    .join("")
    .replaceAll(/[^0-9a-f]/g, "")
}

const reasonIn = (answer: string): string =>
  /^(?:Failure info|Status description): (.+)$/m.exec(answer)?.[1] ?? "it gave no reason"
