/** The lines of an assistant come in pieces that end anywhere, also within a letter: each message arrives, and each other line is answered. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Stdio, Stream } from "effect"
import { checkedStdio, lineLengthMax } from "../../src/features/explore/mcp/stdio.ts"
import { randomFrom } from "../support/random.ts"

const tooLong = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(lineLengthMax) })
/** A line, and the code of the error that answers it; `undefined` for a message, `null` for a line that is none. */
const kinds: ReadonlyArray<readonly [line: string, code: number | null | undefined]> = [
  ['{"jsonrpc":"2.0","id":1,"method":"größe 😀"}', undefined],
  ['{"jsonrpc":"2.0","method":"notified"}', undefined],
  ['{"jsonrpc":"2.0","id":"a","result":null}', undefined],
  ['{"jsonrpc":"2.0","id":"a","error":{"message":"né"}}', undefined],
  ["[]", undefined],
  ["", null],
  [" \t\r", null],
  ["größe", -32700],
  ['{"jsonrpc":"2.0","id":1', -32700],
  ["null", -32600],
  ['{"jsonrpc":"1.0","id":1,"method":"old"}', -32600],
  ['{"jsonrpc":"2.0","id":{},"method":"wrong id"}', -32600],
  ['{"jsonrpc":"2.0","id":1}', -32600],
  ['{"jsonrpc":"2.0","result":1}', -32600]
]

it.effect("wherever the pieces end", () =>
  Effect.gen(function* () {
    const random = randomFrom(8)
    const below = (limit: number) => Math.floor(random() * limit)
    for (let drawn = 0; drawn < 12; drawn++) {
      const lines = Array.from({ length: 20 }, () => kinds[below(kinds.length)]!)
      if (drawn === 0) lines.splice(5, 0, [tooLong, -32600])
      const bytes = new TextEncoder().encode(lines.map(([line]) => `${line}\n`).join(""))
      const pieces: Array<Uint8Array> = []
      for (let at = 0; at < bytes.length;) {
        const next = at + 1 + below(drawn === 0 ? 300_000 : 30)
        pieces.push(bytes.slice(at, next))
        at = next
      }
      const replies: Array<number> = []
      let isEnded = false
      const checked = checkedStdio(
        (line) => void replies.push(JSON.parse(line).error.code),
        Effect.sync(() => (isEnded = true))
      ).pipe(Layer.provide(Stdio.layerTest({ stdin: Stream.fromIterable(pieces) })))
      const got = yield* Effect.flatMap(Stdio.Stdio, ({ stdin }) => Stream.mkString(Stream.decodeText(stdin))).pipe(
        Effect.provide(checked)
      )
      const expected = lines.filter(([, code]) => code === undefined).map(([line]) => line)
      assert.deepStrictEqual(got.split("\n").slice(0, -1), expected)
      assert.deepStrictEqual(
        replies,
        lines.flatMap(([, code]) => code ?? [])
      )
      assert.isTrue(isEnded)
    }
  })
)
