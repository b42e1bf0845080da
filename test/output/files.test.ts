import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checksumOf, onDisk, writeDurably } from "../../src/output/files.ts"
import { newFolder } from "../support/sluice.ts"

it("a durable write makes the folder, replaces the content, leaves no part, and only the owner can read it", async () => {
  const path = join(newFolder(), "a", "b.json")
  await writeDurably(path, "a long first content")
  await writeDurably(path, "second")
  assert.strictEqual(readFileSync(path, "utf8"), "second")
  assert.deepStrictEqual(readdirSync(join(path, "..")), ["b.json"])
  assert.strictEqual(statSync(path).mode & 0o777, 0o600)
})

it.each([0, 1, 256 * 1024, 256 * 1024 + 1, 1_000_000])(
  "the checksum of a file of %d bytes is that of its content",
  async (bytes) => {
    const path = join(newFolder(), "file")
    const content = Buffer.alloc(bytes, "sluice")
    writeFileSync(path, content)
    const pieces: Array<Buffer> = []
    const checksum = await checksumOf(path, (piece) => void pieces.push(Buffer.from(piece)))
    assert.deepStrictEqual(checksum, { bytes, sha256: createHash("sha256").update(content).digest("hex") })
    assert.isTrue(Buffer.concat(pieces).equals(content))
  }
)

it.effect("a failure names the file, what was tried and why", () =>
  Effect.gen(function* () {
    const path = join(newFolder(), "missing")
    const failure = yield* Effect.flip(onDisk(path, "read", () => checksumOf(path)))
    assert.include(failure.reason, { _tag: "FileFailed", path, operation: "read" })
    assert.match(failure.message, /^ENOENT/)
  })
)
