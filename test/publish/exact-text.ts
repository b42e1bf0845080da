const exactText = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true })

/** For hyparquet: keeps a byte order mark at the beginning of a text, which decoders remove by default. */
export const stringFromBytes = (bytes: Uint8Array | undefined) => bytes && exactText.decode(bytes)
