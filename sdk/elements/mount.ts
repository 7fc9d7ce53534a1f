import type { SealingBundle } from './encryptor.ts';
import { SvcError } from './error.ts';
import type { CardResult, FromField, RevealAction, ToField } from './messages.ts';

// Puts hosted fields into a page. What is typed or shown in them stays in a frame of another origin, which no script of the page can read.

export type FieldOptions = {
  theme?: 'light' | 'dark' | 'auto';
  /** Where the API of the space is; the host that this script came from when left out. */
  baseUrl?: string;
};

export type CardOptions = FieldOptions & {
  /** The label of the button in the field. `false`: none, the page calls `submit()`. */
  button?: string | false;
} & (
    | {
        /** A client token for `tokenize`. */
        token: string;
        /** Slug or ID of the workspace, which the token must be of. */
        workspace: string;
      }
    | {
        /** Slug or ID of the workspace. */
        workspace: string;
        /** Name or ID of the key to seal for; `kc-default` when left out. The field reads its public half itself. */
        key?: string;
        /** The data role to bind in. */
        role?: string;
      }
    | { /** Names the workspace and the key. The field takes no key material from a page. */ bundle: SealingBundle; role?: string }
  );

export type RevealOptions = FieldOptions & {
  /** A client token for this very `data`. */
  token: string;
  /** The vault token or sealed value to show. */
  data: string;
  /** Slug or ID of the workspace. */
  workspace: string;
  /** What the client token was minted for; taken from the form of `data` when left out. */
  action?: RevealAction;
};

export type Mounted<Result> = Promise<Result> & {
  frame: HTMLIFrameElement;
  /** Takes the field out of the page. */
  remove(): void;
};

/** A card form. Resolves when the card was sealed or tokenized. Rejects with an SvcError when it can't be: mount another field with a fresh token then. */
export function mountCard(target: Element | string, options: CardOptions): Mounted<CardResult> & { submit(): void } {
  const { button } = options;
  const origin = location.origin;
  const sealing = 'token' in options ? null : options;
  const init: ToField = sealing
    ? { type: 'svc:init', origin, role: sealing.role, button }
    : { type: 'svc:init', origin, token: (options as { token: string }).token, button };
  const field = mount(
    target,
    'card',
    options,
    sealing ? keyOf(sealing) : { workspace: (options as { workspace: string }).workspace },
    init,
  );
  const result = field.until((message) => (message.type === 'svc:result' ? { value: message.result } : undefined));
  return Object.assign(result, { ...field.handle, submit: () => field.send({ type: 'svc:submit' }) });
}

type Sealing = Exclude<CardOptions, { token: string }>;

/** The part of a field's address that says for whom it seals. */
const keyOf = (options: Sealing): Record<'workspace' | 'key', string> =>
  'bundle' in options
    ? { workspace: options.bundle.key_ref.tenant_id, key: options.bundle.key_ref.app_key_id }
    : { workspace: options.workspace, key: options.key ?? DEFAULT_KEY };
const DEFAULT_KEY = 'kc-default';

/** Shows a value for 30 seconds. Resolves when it is on the screen, never with the value. Rejects with an SvcError when it can't be shown. */
export function mountReveal(target: Element | string, { token, data, workspace, action, ...options }: RevealOptions): Mounted<void> {
  const init: ToField = { type: 'svc:init', origin: location.origin, token, data, action };
  const field = mount(target, 'reveal', options, { workspace }, init);
  const shown = field.until((message) => (message.type === 'svc:shown' ? { value: undefined } : undefined));
  return Object.assign(shown, field.handle);
}

const TITLES = { card: 'Card details', reveal: 'Protected value' } as const;
/** A frame that a browser refuses to show says nothing at all. */
const SILENCE_MS = 15_000;

function mount(
  target: Element | string,
  kind: keyof typeof TITLES,
  { theme = 'auto', baseUrl = import.meta.url }: FieldOptions,
  query: Record<string, string>,
  init: ToField,
) {
  const place = typeof target === 'string' ? document.querySelector(target) : target;
  if (!place) throw new TypeError(`There is no element ${String(target)} in this page.`);
  const service = new URL(baseUrl).origin;
  const frame = document.createElement('iframe');
  frame.src = `${service}/elements/v1/${kind}?${new URLSearchParams({ ...query, origin: location.origin, theme })}`;
  frame.title = TITLES[kind];
  frame.referrerPolicy = 'no-referrer';
  if (kind === 'reveal') frame.allow = `clipboard-write ${service}`;
  Object.assign(frame.style, { border: '0', width: '100%', height: kind === 'card' ? '260px' : '110px', display: 'block' });

  const heard = new Set<(message: FromField) => void>();
  const listen = (event: MessageEvent) => {
    if (event.source !== frame.contentWindow || event.origin !== service || !isMessage(event.data)) return;
    for (const hear of heard) hear(event.data);
  };
  const send = (message: ToField) => frame.contentWindow?.postMessage(message, service);
  addEventListener('message', listen);
  heard.add((message) => {
    if (message.type === 'svc:ready') send(init);
    if (message.type === 'svc:resize' && message.height > 0 && message.height <= 2_000) frame.style.height = `${message.height}px`;
  });
  place.append(frame);

  let silent: ReturnType<typeof setTimeout> | undefined;
  const remove = () => {
    clearTimeout(silent);
    removeEventListener('message', listen);
    frame.remove();
  };
  const until = <T>(of: (message: FromField) => { value: T } | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      silent = setTimeout(() => {
        const message = `The field did not load. Register ${location.origin} under Encryption, Element origins, and check the workspace and the key.`;
        reject(new SvcError('field_not_loaded', message));
      }, SILENCE_MS);
      heard.add((message) => {
        clearTimeout(silent);
        const found = of(message);
        if (found) resolve(found.value);
        if (message.type === 'svc:error') {
          const { type, message: text, request_id } = message.error;
          reject(new SvcError(type, text, { request_id }));
        }
      });
    });
  return { send, until, handle: { frame, remove } };
}

const isMessage = (data: unknown): data is FromField =>
  typeof data === 'object' && data !== null && 'type' in data && typeof data.type === 'string' && data.type.startsWith('svc:');
