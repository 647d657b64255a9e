/** Views of the memory of a module. Each is a copy: the memory moves when it grows. */
export class Memory {
  private instance: WebAssembly.Instance | undefined;

  attach(instance: WebAssembly.Instance): void {
    this.instance = instance;
  }

  get buffer(): ArrayBuffer {
    return (this.instance!.exports["memory"] as WebAssembly.Memory).buffer as ArrayBuffer;
  }

  ints(at: number, n: number): Int32Array {
    return n === 0 ? new Int32Array() : new Int32Array(this.buffer, at, n).slice();
  }

  numbers(at: number, n: number): Float64Array {
    return n === 0 ? new Float64Array() : new Float64Array(this.buffer, at, n).slice();
  }

  text(at: number, n: number): string {
    return new TextDecoder().decode(new Uint8Array(this.buffer, at, n));
  }

  writeInts(at: number, values: Int32Array): void {
    new Int32Array(this.buffer, at, values.length).set(values);
  }

  writeNumbers(at: number, values: Float64Array): void {
    new Float64Array(this.buffer, at, values.length).set(values);
  }

  writeBytes(at: number, bytes: Uint8Array): void {
    new Uint8Array(this.buffer, at, bytes.length).set(bytes);
  }
}
