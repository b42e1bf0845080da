/** The host of the files behind links: what it has at each address, and what it sends in its place on a bad night. */
import { createHash } from "node:crypto"
import type { Dispatcher } from "undici"

interface FileAnswer {
  readonly status: number
  readonly type: string
  readonly body: Buffer
}

const picture = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0])
const contentOf = (text: string) =>
  Buffer.concat([picture, ...Array(20).fill(createHash("sha256").update(text).digest())])

/** The file at an address, the same at all times. */
export const fileAt = (url: string): Buffer => contentOf(url)

const page = "<!doctype html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n"
const sent = (body: string, type: string, status = 200): FileAnswer => ({ status, type, body: Buffer.from(body) })

/** Answers that are not the file. After the last ones, a connection that broke goes on with the rest of another file. */
export const wrongAnswers = {
  "a page": sent(page, "text/html; charset=utf-8"),
  "a page as a picture": sent(page, "image/jpeg"),
  "an error in JSON": sent('{"statusCode":404,"message":"link expired"}', "application/json"),
  "an error in XML": sent('<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>', "application/xml"),
  "a text": sent("down for maintenance", "text/plain"),
  nothing: sent("", "image/jpeg"),
  "another file": sent("%PDF-1.7\n%\u00e2\u00e3\nanother file\n%%EOF\n", "application/pdf"),
  "a refusal": sent("no", "text/plain", 403),
  "not found": sent("no", "text/plain", 404),
  "the rest of another file": "other rest",
  "the right rest": "right rest"
} as const satisfies Record<string, FileAnswer | "other rest" | "right rest">

export type WrongAnswer = keyof typeof wrongAnswers

/** A bad night of the host. */
export interface BadHost {
  readonly answer: WrongAnswer
  /** The share of the requests. */
  readonly rate: number
}

interface HostSettings {
  readonly random: () => number
  /** Called for every request; false if the process that sends it is dead. */
  readonly onSend: () => boolean
}

/** Answers at once: time stands still while a file is fetched. */
export class FileHost {
  bad: BadHost | undefined
  private readonly settings: HostSettings

  constructor(settings: HostSettings) {
    this.settings = settings
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    let over = false
    const end = (how: () => void) => {
      if (!over) how()
      over = true
    }
    const abort = (reason: Error) => end(() => handler.onResponseError?.(controller, reason))
    const states = { paused: false, aborted: false, reason: null, rawHeaders: null, rawTrailers: null }
    const controller = { ...states, pause() {}, resume() {}, abort }
    const reset = () => abort(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }))
    handler.onRequestStart?.(controller, {})
    if (over) return true
    if (!this.settings.onSend()) {
      reset()
      return true
    }
    const [answer, headers, isBroken] = this.answer(`${String(options.origin)}${options.path}`, options.headers)
    queueMicrotask(() => {
      if (over) return
      const length = { "content-length": String(answer.body.length) }
      handler.onResponseStart?.(controller, answer.status, { "content-type": answer.type, ...length, ...headers })
      const { body } = answer
      if (!over && body.length > 0)
        handler.onResponseData?.(controller, isBroken ? body.subarray(0, body.length >> 1) : body)
      if (isBroken) return reset()
      end(() => handler.onResponseEnd?.(controller, {}))
    })
    return true
  }

  private answer(
    url: string,
    asked: Dispatcher.DispatchOptions["headers"]
  ): readonly [FileAnswer, Readonly<Record<string, string>>, boolean] {
    const [own, other] = [fileAt(url), contentOf(`another one than ${url}`)]
    const tagOf = (body: Buffer) => `"${createHash("sha256").update(body).digest("hex").slice(0, 8)}"`
    const ofFile = (body: Buffer) => ({ etag: tagOf(body), "accept-ranges": "bytes" })
    const whole = { status: 200, type: "image/jpeg", body: own } as const
    if (this.bad === undefined || this.settings.random() >= this.bad.rate) return [whole, ofFile(own), false]
    const wrong = wrongAnswers[this.bad.answer]
    if (typeof wrong === "object") return [wrong, {}, false]
    const from = /^bytes=(\d+)-$/.exec((asked as Readonly<Record<string, string>>)["range"] ?? "")?.[1]
    if (from === undefined) return [whole, ofFile(own), true]
    // The host pays no attention to If-Range.
    const body = wrong === "other rest" ? other : own
    const range = { "content-range": `bytes ${from}-${body.length - 1}/${body.length}`, ...ofFile(body) }
    return [{ ...whole, status: 206, body: body.subarray(Number(from)) }, range, false]
  }
}
