import { createHash } from "node:crypto"
import type { AccountContext } from "../account/context.ts"
import type { Random } from "../account/random.ts"
import { contentOf } from "./contents.ts"
import { type Wish, drawLink, pathOf, storedOrigin } from "./links.ts"

/** The record for which links are drawn. */
export interface Drawing {
  readonly context: AccountContext
  /** Collection and record. */
  readonly at: string
  readonly random: Random
}

/** A link with what a record may say about its file. */
export interface Drawn {
  readonly id: string
  readonly url: string
  readonly name: string
  readonly type: string
  readonly size: number
}

export const draw = ({ at, context }: Drawing, place: string, wish: Omit<Wish, "at"> = {}): Drawn => {
  const link = drawLink(context, { ...wish, at: `${at}/${place}` })
  const { bytes, type } = contentOf(context.settings, link.content)!
  return {
    id: uuidOf(`${at}/${place}`),
    url: storedOrigin + pathOf(link),
    name: decodeURIComponent(link.name),
    type,
    size: bytes
  }
}

export const drawAll = (
  drawing: Drawing,
  place: string,
  count: number,
  wish: Omit<Wish, "at"> = {}
): ReadonlyArray<Drawn> => Array.from({ length: count }, (_, number) => draw(drawing, `${place}/${number}`, wish))

const uuidOf = (text: string): string =>
  createHash("sha1")
    .update(text)
    .digest("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-a$4-$5")
