/** Bytes that grow as they are written, and are written over from the beginning again. */
export class ByteBuffer {
  protected bytes: Buffer
  protected end = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** The bytes, with room for `length` more. */
  protected room(length: number): Buffer {
    if (this.end + length > this.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(2 * (this.end + length))
      this.bytes.copy(bytes, 0, 0, this.end)
      this.bytes = bytes
    }
    return this.bytes
  }

  /** Puts the separator before a printed name, and the name. */
  protected putName(separator: number, name: Uint8Array): void {
    const bytes = this.room(name.length + 1)
    let { end } = this
    bytes[end++] = separator
    for (let index = 0; index < name.length; index++) bytes[end++] = name[index]!
    this.end = end
  }
}
