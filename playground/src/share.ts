/** The program and the settings in the fragment of the URL: compressed, so that a link has room for a long program. */

export interface Shared {
  program: string;
  /** The text of `noisy.toml`. */
  settings: string;
}

/** Longer fragments are cut by some programs that pass on links. */
export const LONGEST = 30_000;

/** A link from elsewhere cannot make the page hold more than this. */
const MOST = 4_000_000;

async function piped(bytes: Uint8Array, through: GenericTransformStream): Promise<Uint8Array> {
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(through as ReadableWritablePair<Uint8Array, Uint8Array>)
    .getReader();
  const parts: Uint8Array[] = [];
  let n = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    n += value.length;
    if (n > MOST) {
      void reader.cancel();
      throw new Error("it is too long");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

export async function fragment(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([shared.program, shared.settings]));
  const small = await piped(bytes, new CompressionStream("deflate-raw"));
  let text = "";
  for (let at = 0; at < small.length; at += 0x8000) {
    text += String.fromCharCode(...small.subarray(at, at + 0x8000));
  }
  return `#1${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** What a fragment holds; undefined for an empty one. An error says that it is damaged. */
export async function shared(fragment: string): Promise<Shared | undefined> {
  const text = fragment.replace(/^#/, "");
  if (text === "") {
    return undefined;
  }
  if (!text.startsWith("1")) {
    throw new Error("it is of another version");
  }
  const packed = atob(text.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(packed, (it) => it.charCodeAt(0));
  const whole: unknown = JSON.parse(
    new TextDecoder().decode(await piped(bytes, new DecompressionStream("deflate-raw"))),
  );
  if (!Array.isArray(whole) || typeof whole[0] !== "string" || typeof whole[1] !== "string") {
    throw new Error("it contains no program");
  }
  return { program: whole[0], settings: whole[1] };
}
