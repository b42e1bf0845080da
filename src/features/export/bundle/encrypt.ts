/** Encrypts an archive to age recipients, as a stream. */
import { createReadStream } from "node:fs"
import { open } from "node:fs/promises"
import { Readable } from "node:stream"

/** Whether a text is a recipient of age, an X25519 public key. */
export const isRecipient = (text: string): boolean => /^age1[02-9ac-hj-np-z]{58}$/.test(text)

export const encryptFile = async (from: string, to: string, recipients: ReadonlyArray<string>): Promise<void> => {
  const { Encrypter } = await import("age-encryption")
  const encrypter = new Encrypter()
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  const plain = Readable.toWeb(createReadStream(from)) as ReadableStream<Uint8Array>
  const encrypted = await encrypter.encrypt(plain)
  await using file = await open(to, "wx", 0o600)
  for await (const chunk of encrypted as unknown as AsyncIterable<Uint8Array>) await file.writeFile(chunk)
  await file.sync()
}
