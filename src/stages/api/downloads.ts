/** Receives the body of a response as a file: of limited size, and never with the credentials in it. */
import { type IncomingFile, type StoredFile, receiveFile } from "../../output/stored-files.ts"
import { spellings } from "./response-body.ts"

/** A file is not stored because of its content or size. A retry would return the same file. */
export class FileRejected extends Error {}
/** The file is larger than the settings allow. `bytes`: the size that was announced. */
export class FileTooLarge extends FileRejected {
  readonly bytes: number | undefined
  constructor(bytesMax: number, bytes: number | undefined) {
    super(`the file is larger than files.max_bytes, ${bytesMax}`)
    this.bytes = bytes
  }
}

export interface FileLimits {
  readonly bytesMax: number
  /** Texts that the file must not contain. */
  readonly secrets: Iterable<string>
}

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Appends the rest of a body to a file. `announced`: how many bytes follow, if that is known. */
export const receiveBody = async (
  body: AsyncIterable<Buffer>,
  incoming: IncomingFile,
  { bytesMax, secrets }: FileLimits,
  announced = 0
): Promise<void> => {
  const forbidden = [...secrets].flatMap(spellings)
  const overlap = Math.max(0, ...forbidden.map(({ length }) => length))
  const expected = incoming.bytes() + announced
  if (expected > bytesMax) throw new FileTooLarge(bytesMax, expected)
  let tail = Buffer.alloc(0)
  for await (const chunk of body) {
    if (incoming.bytes() + chunk.length > bytesMax) throw new FileTooLarge(bytesMax, undefined)
    if (overlap > 0) {
      const searched = Buffer.concat([tail, chunk])
      if (forbidden.some((text) => searched.includes(text)))
        throw new FileRejected("the file contains the credentials and was not stored")
      tail = searched.subarray(-overlap)
    }
    await incoming.write(chunk)
  }
}

/** Stores a body in the output folder. Leaves no file if it fails. */
export const store = async (
  body: AsyncIterable<Buffer>,
  headers: Headers,
  folder: string,
  limits: FileLimits
): Promise<Omit<StoredFile, "found"> & { readonly content_type: string }> => {
  const incoming = receiveFile(folder)
  try {
    await receiveBody(body, incoming, limits, lengthIn(headers))
    const { bytes, path, sha256 } = await incoming.keep()
    return { path, bytes, sha256, content_type: headerOf(headers, "content-type") ?? "" }
  } finally {
    await incoming.discard()
  }
}

export const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return value === undefined ? undefined : typeof value === "string" ? value : value[0]
}

export const lengthIn = (headers: Headers): number | undefined => {
  const length = headerOf(headers, "content-length")
  return length === undefined || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}
