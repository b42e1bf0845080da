import { promisify } from "node:util"
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib"

/**
 * The body in the encoding that the client prefers, compressed at the fastest level; undefined if the body is smaller than
 * `bytesMin`, or the client accepts no known encoding.
 */
export const compressed = async (
  body: Buffer,
  acceptEncoding: string | undefined,
  bytesMin: number
): Promise<{ encoding: string; body: Buffer } | undefined> => {
  if (body.length < bytesMin || acceptEncoding === undefined) return undefined
  const accepted = new Map<string, number>()
  for (const part of acceptEncoding.toLowerCase().split(",")) {
    const [name, quality] = part.split(";q=")
    accepted.set(name!.trim(), quality === undefined ? 1 : Number(quality))
  }
  const best = Object.keys(compress)
    .filter((name) => (accepted.get(name) ?? 0) > 0)
    .sort((a, b) => accepted.get(b)! - accepted.get(a)!)[0]
  return best === undefined ? undefined : { encoding: best, body: await compress[best]!(body) }
}

/** In order of preference among encodings of the same quality. */
const compress: Record<string, (body: Buffer) => Promise<Buffer>> = {
  zstd: (body) => promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (body) => promisify(gzip)(body, { level: 1 }),
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
}
