/** The service worker: keeps the files of this version of the playground, so that it opens without a network. */

declare const FILES: string[];
declare const VERSION: string;

const scope = self as unknown as {
  addEventListener(
    name: string,
    act: (
      event: Event & {
        waitUntil(it: Promise<unknown>): void;
        respondWith(it: Promise<Response>): void;
        request: Request;
      },
    ) => void,
  ): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};
const NAME = `noisy-playground-${VERSION}`;

scope.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(NAME)
      .then((it) => it.addAll(FILES))
      .then(() => scope.skipWaiting()),
  );
});

scope.addEventListener("activate", (event) => {
  const stale = async (): Promise<void> => {
    const names = await caches.keys();
    await Promise.all(
      names
        .filter((it) => it.startsWith("noisy-playground-") && it !== NAME)
        .map((it) => caches.delete(it)),
    );
    await scope.clients.claim();
  };
  event.waitUntil(stale());
});

scope.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") {
    return;
  }
  const found = async (): Promise<Response> => {
    const cache = await caches.open(NAME);
    return (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  };
  event.respondWith(found());
});
