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
}
