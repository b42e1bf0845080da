/** One part of a `multipart/form-data` body: a value, or a file, of which the sandbox keeps name, type and size. */
export type Part =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mimeType: string; readonly size: number }

export const isMultipart = (contentType: string | undefined): boolean =>
  /^multipart\/form-data\b/i.test(contentType ?? "")

/** The parts of a body; undefined if it is not well-formed. */
export const readParts = async (bytes: Buffer, contentType: string): Promise<ReadonlyArray<Part> | undefined> => {
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData()
    return [...form].map(([name, value]) =>
      typeof value === "string"
        ? { name, value }
        : { name, fileName: value.name, mimeType: value.type, size: value.size }
    )
  } catch {
    return undefined
  }
}
