/** `init` with a person who answers: the questions in their order, and what is in the files after drawn answers. */
import { assert, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { Writable } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { type InitFlags, initWith } from "../../src/cli/init.ts"
import { Output } from "../../src/console/streams.ts"
import { readSettings } from "../../src/settings/read.ts"
import { Environment } from "../../src/values/environment.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

type Question = keyof typeof messages
const messages = {
  baseUrl: "Address of the API",
  token: "Token",
  location: "Location id",
  other: "Another location id",
  times: "Time of the nightly sync",
  mail: "Mail address that is told"
}
const environment = { CRM_TOKEN: "of-the-variable" }
const noFlags: InitFlags = {
  config: undefined,
  baseUrl: undefined,
  tokenRef: undefined,
  location: undefined,
  formats: undefined,
  force: false,
  noCheck: true,
  add: false
}

/** Answers each question with the next text; after the last one, the input ends as with Ctrl-C. */
const answering = async (flags: Partial<InitFlags>, answers: ReadonlyArray<string>) => {
  const shown: Array<string> = []
  const said: Array<string> = []
  let asked = 0
  const key = { ctrl: false, meta: false, shift: false }
  const terminal = Terminal.make({
    columns: Effect.succeed(200),
    rows: Effect.succeed(50),
    size: Effect.never,
    readLine: Effect.never,
    display: (text) => Effect.sync(() => void (shown[asked] = (shown[asked] ?? "") + stripVTControlCharacters(text))),
    readInput: Effect.gen(function* () {
      const queue = yield* Queue.unbounded<Terminal.UserInput, Cause.Done>()
      const text = answers[asked++]
      if (text === undefined) yield* Queue.end(queue)
      else {
        for (const one of text) yield* Queue.offer(queue, { input: Option.some(one), key: { ...key, name: one } })
        yield* Queue.offer(queue, { input: Option.none(), key: { ...key, name: "enter" } })
      }
      return queue
    })
  })
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      said.push(String(chunk))
      done()
    }
  })
  const output = Output.make({ stdout: stream, stderr: stream }, environment)
  const result = await Effect.runPromise(
    Effect.result(initWith({ ...noFlags, ...flags }, true)).pipe(
      Effect.provideService(Terminal.Terminal, terminal),
      Effect.provideService(Output, output),
      Effect.provideService(Environment, environment),
      Effect.provide(Layer.merge(FileSystem.layerNoop({}), Path.layer))
    )
  )
  const questions = shown.flatMap((text) =>
    Object.entries(messages).flatMap(([name, message]) => (text.includes(message) ? [name as Question] : []))
  )
  return { questions, result, said: said.join(""), redacted: output.redacted }
}

interface Answer {
  readonly question: Question
  readonly text: string
}
/** Flags and answers, with mistakes among them, and what the files then have. */
const drawn = (seed: number, folder: string) => {
  const random = randomFrom(seed)
  const isSo = () => random() < 0.5
  const answers: Array<Answer> = []
  const secrets: Array<string> = []
  const answer = (question: Question, ...texts: ReadonlyArray<string>) =>
    answers.push(...texts.map((text) => ({ question, text })))
  const tokenOf = (id: string) => (isSo() ? `pit-of-${id}` : "env:CRM_TOKEN")
  const given = { baseUrl: isSo(), tokenRef: isSo(), location: isSo() }
  const baseUrl = `https://crm-${seed}.example.com`
  const first = { id: `first-${seed}`, token: given.tokenRef ? "env:CRM_TOKEN" : tokenOf("first") }
  if (!given.baseUrl) answer("baseUrl", ...(isSo() ? ["", "crm"] : []), baseUrl)
  const isWrongFirst = !given.tokenRef && isSo()
  if (!given.tokenRef) answer("token", isWrongFirst ? "env:NOT_THERE" : first.token)
  if (!given.location) answer("location", ...(isSo() ? [""] : []), ` ${first.id} `)
  // Only what may be wrong is asked again.
  if (isWrongFirst) answer("token", first.token)
  const areAllGiven = given.baseUrl && given.tokenRef && given.location
  const others: Array<typeof first> = []
  let [times, mail] = ["", ""]
  if (!areAllGiven && !given.location) {
    for (const id of ["second", "third"].filter(isSo)) {
      if (isSo()) answer("other", others.at(-1)?.id ?? first.id)
      const token = tokenOf(id)
      answer("other", id)
      if (isSo()) {
        // What cannot be read is asked again.
        answer("token", "env:NOT_THERE")
        answer("other", id)
      }
      answer("token", token)
      others.push({ id, token })
    }
    answer("other", "")
  }
  if (!areAllGiven) {
    if (isSo()) times = "03:30"
    if (isSo()) mail = "ops@example.com"
    answer("times", ...(isSo() ? ["25:00"] : []), times)
    answer("mail", mail)
  }
  for (const { token } of [first, ...others]) if (token.startsWith("pit-")) secrets.push(token)
  const formats = isSo() ? "csv,duckdb" : undefined
  const flags: Partial<InitFlags> = {
    config: join(folder, "config", "sluice.toml"),
    formats,
    ...(given.baseUrl && { baseUrl }),
    ...(given.tokenRef && { tokenRef: first.token }),
    ...(given.location && { location: first.id })
  }
  return { answers, baseUrl, first, flags, formats, mail, others, secrets, times }
}

it.each(Array.from({ length: 24 }, (_, seed) => seed + 1))(
  "writes the answers, each secret into its own file, and does not ask for what a flag says: %i",
  async (seed) => {
    const folder = newFolder()
    const { answers, baseUrl, first, flags, formats, mail, others, secrets, times } = drawn(seed, folder)
    const path = flags.config!
    const texts = answers.map(({ text }) => text)
    const { questions, redacted, result, said } = await answering(flags, texts)
    assert.deepStrictEqual(
      questions,
      answers.map(({ question }) => question),
      said
    )
    const { lists, problems, values } = readSettings({ config: path }, environment)
    assert.deepStrictEqual(problems, [])
    const fileOf = (name: string) => join(dirname(path), name)
    const referenceOf = (token: string, file: string) => (token.startsWith("pit-") ? `file:${fileOf(file)}` : token)
    assert.deepStrictEqual(
      {
        baseUrl: values.account.baseUrl,
        location: values.account.locationId,
        token: values.account.token?.reference,
        formats: [...values.output.formats],
        times: values.schedule.times,
        mail: values.signals.mailTo,
        others: lists.locations.map(({ id, token }) => ({ id, token }))
      } as unknown,
      {
        baseUrl,
        location: first.id,
        token: referenceOf(first.token, "token"),
        formats: formats?.split(",") ?? ["duckdb"],
        times: times === "" ? [] : [times],
        mail: mail === "" ? undefined : mail,
        others:
          others.length === 0
            ? []
            : [
                { id: first.id, token: undefined },
                ...others.map(({ id, token }) => ({ id, token: referenceOf(token, `token-${id}`) }))
              ]
      }
    )
    const files = [first, ...others].flatMap(({ id, token }) =>
      token.startsWith("pit-") ? [{ name: id === first.id ? "token" : `token-${id}`, token }] : []
    )
    assert.deepStrictEqual(
      readdirSync(dirname(path)).toSorted(),
      ["sluice.toml", ...files.map(({ name }) => name)].toSorted()
    )
    for (const { name, token } of files) assert.strictEqual(readFileSync(fileOf(name), "utf8"), `${token}\n`)
    const shown = result._tag === "Success" && typeof result.success === "object" ? result.success : assert.fail(said)
    assert.deepStrictEqual(
      [...shown.data.files].toSorted(),
      [path, ...files.map(({ name }) => fileOf(name))].toSorted()
    )
    for (const { id } of [first, ...others]) assert.include(said, `Location ${id}.\n`)
    for (const secret of secrets) assert.strictEqual(redacted(secret), "<redacted>")

    // Later, a location of its own token is added.
    const added = await answering({ config: path, add: true }, ["pit-of-added", "added"])
    assert.deepStrictEqual(added.questions, ["token", "location"], added.said)
    const last = { id: "added", token: `file:${fileOf("token-added")}` }
    const { locations } = readSettings({ config: path }, environment).lists
    const earlier = lists.locations.length === 0 ? [{ id: first.id, token: undefined }] : lists.locations
    assert.deepStrictEqual<unknown>(
      locations.map(({ id, token }) => ({ id, token })),
      [...earlier.map(({ id, token }) => ({ id, token })), last]
    )
    assert.strictEqual(readFileSync(fileOf("token-added"), "utf8"), "pit-of-added\n")
    assert.strictEqual(added.redacted("pit-of-added"), "<redacted>")
  }
)

it("writes nothing, whichever question a person leaves", async () => {
  const folder = newFolder()
  const { answers, flags } = drawn(5, folder)
  assert.isAbove(answers.length, 4)
  for (let count = 0; count < answers.length; count++) {
    const { result, said } = await answering(
      flags,
      answers.slice(0, count).map(({ text }) => text)
    )
    assert.deepStrictEqual(result._tag === "Success" && result.success, 130 as never)
    assert.include(said, "Nothing was written.")
    assert.isFalse(existsSync(dirname(flags.config!)))
  }
})
