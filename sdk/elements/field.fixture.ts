import type { FromField } from './messages.ts';

// A hosted field without a browser: its script runs on the few parts of a page that it uses, and the test is the page around it.

export const PAGE = 'https://shop.example.com';
export const API = 'https://api.example.com';

type Handler = (event: never) => void;

/** One element, as far as the scripts of fields use it. */
export class Element {
  value = '';
  textContent = '';
  hidden = false;
  disabled = true;
  dataset: Record<string, string> = {};
  selectionStart = 0;
  readonly #attributes = new Map<string, string>();
  readonly #handlers = new Map<string, Handler[]>();
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
  addEventListener(type: string, handler: Handler) {
    this.#handlers.set(type, [...(this.#handlers.get(type) ?? []), handler]);
  }
  fire(type: string) {
    for (const handler of this.#handlers.get(type) ?? []) handler({ preventDefault: () => {} } as never);
  }
  setAttribute = (name: string, value: string) => void this.#attributes.set(name, value);
  getAttribute = (name: string) => this.#attributes.get(name) ?? null;
  removeAttribute = (name: string) => void this.#attributes.delete(name);
  setSelectionRange() {}
  focus() {}
}

/**
 * The `svc:init` of `mountCard` in the release before fields had a key in their address, which pages with an integrity hash may keep for a year. The address
 * of its field has `keeps=name` beside a bundle, and `keeps=` beside a client token.
 */
export const earlierInit = (given: { bundle: object; role?: string } | { token: string }) => ({
  type: 'svc:init',
  origin: PAGE,
  role: undefined,
  button: undefined,
  ...given,
});

export type Requested = { path: string; authorization: string; parent: string; body: Record<string, unknown> };
export type Answers = Record<string, { status: number; body: object }>;

export type Page = {
  element(id: string): Element;
  /** All that the page was sent, but for heights. */
  heard: FromField[];
  requested: Requested[];
  /** A message of a window; of the page's own when none is named. */
  post(data: unknown, from?: { source?: unknown; origin?: string }): void;
};

let loaded = 0;

/** Loads a field's script into a page of its own. `answers` are those of the API, by path. */
export async function field(script: 'card' | 'reveal', metas: Record<string, string>, answers: Answers = {}): Promise<Page> {
  const elements = new Map<string, Element>();
  const element = (id: string) => elements.get(id) ?? elements.set(id, new Element(id)).get(id) ?? new Element(id);
  const heard: FromField[] = [];
  const requested: Requested[] = [];
  const listeners: Handler[] = [];
  const parent = {
    postMessage(message: FromField, to: string) {
      if (to !== PAGE) throw new Error(`a message for ${to}`);
      if (message.type !== 'svc:resize') heard.push(structuredClone(message));
    },
  };
  const written: Record<string, string> = { 'svc-parent': PAGE, 'svc-base': API, ...metas };
  Object.assign(globalThis, {
    window: { parent },
    addEventListener: (type: string, listener: Handler) => void (type === 'message' && listeners.push(listener)),
    document: {
      documentElement: { getBoundingClientRect: () => ({ height: 1 }) },
      getElementById: element,
      querySelector: (selector: string) => ({ content: written[/name="([\w-]+)"/.exec(selector)?.[1] ?? ''] ?? '' }),
    },
    ResizeObserver: class {
      observe() {}
    },
    fetch: async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
      const path = new URL(url).pathname;
      requested.push({
        path: url.startsWith(`${API}/`) ? path : url,
        authorization: headers.authorization ?? '',
        parent: headers['x-svc-parent-origin'] ?? '',
        body: JSON.parse(body),
      });
      const answer = answers[path] ?? { status: 404, body: { error: { type: 'not_found', message: 'No such path.' } } };
      return new Response(JSON.stringify(answer.body), { status: answer.status });
    },
  });
  await import(`./${script}.ts?loaded=${++loaded}`);
  return {
    element,
    heard,
    requested,
    post(data, { source = parent, origin = PAGE } = {}) {
      for (const listener of listeners) listener({ source, origin, data } as never);
    },
  };
}
