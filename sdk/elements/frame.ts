import type { SvcClient } from './client.ts';
import type { SealingBundle } from './encryptor.ts';
import { SvcError } from './error.ts';
import type { FromField, Init, RevealAction, ToField } from './messages.ts';

// The field's end of the conversation with the page around it.

/** What the service wrote into the document: the page's origin, which the workspace has registered, the workspace, the API of the space, and the key. */
export const written = (name: 'svc-parent' | 'svc-base' | 'svc-workspace' | 'svc-bundle'): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** The key that the service wrote into the document; null in a field that takes a client token. */
export const ownBundle = (): SealingBundle | null => JSON.parse(written('svc-bundle') || 'null');

export type Field = {
  /** The one `svc:init`. */
  begin(init: Init): void;
  /** The page wants the form sent. */
  submit?(): void;
  /** The field can't be used any more: what it holds is to be cleared. */
  end(): void;
};

export type Conversation = {
  /** Says nothing once the field has ended. */
  send(message: FromField): void;
  /** Ends the field, and tells the page why. Nothing is heard after it. */
  fail(error: unknown): void;
};

/**
 * Hears only the window around this one, and only while it is of the origin that this field was loaded for. The first `svc:init` counts: with a second one
 * somebody else in the page claims the field, which ends it.
 */
export function converse({ begin, submit, end }: Field): Conversation {
  const page = written('svc-parent');
  let state: 'waiting' | 'begun' | 'ended' = 'waiting';
  const post = (message: FromField) => {
    if (window.parent !== window) window.parent.postMessage(message, page);
  };
  const fail = (error: unknown) => {
    if (state === 'ended') return;
    state = 'ended';
    end();
    const { type, message, request_id } = asSvcError(error);
    post({ type: 'svc:error', error: { type, message, request_id } });
  };
  addEventListener('message', ({ source, origin, data }) => {
    if (window.parent === window || source !== window.parent || origin !== page || !isMessage(data) || state === 'ended') return;
    if (data.type === 'svc:submit') return submit?.();
    if (data.origin !== page) return;
    if (state === 'begun') return fail(new SvcError('field_already_mounted', SECOND_INIT));
    state = 'begun';
    if ('bundle' in data && !namesOwnKey(data.bundle)) return fail(new SvcError('invalid_request', OTHER_KEY));
    begin(data);
  });
  new ResizeObserver(() =>
    post({ type: 'svc:resize', height: Math.ceil(document.documentElement.getBoundingClientRect().height) }),
  ).observe(document.documentElement);
  post({ type: 'svc:ready' });
  return {
    fail,
    send(message) {
      if (state !== 'ended') post(message);
    },
  };
}

const SECOND_INIT =
  'The field was given a second svc:init and has ended. Look for another script in the page that talks to it, then mount a new field.';
const OTHER_KEY =
  "A field takes no key from the page, and the page's sealing bundle is of another key than the field's. Load the current seal.js and name the key in the options.";

/**
 * Pages with the library of an earlier release send their sealing bundle. It's never used, so it does no harm as long as it names the key that the field
 * seals for anyway; with another one the page would get values that it doesn't expect.
 */
function namesOwnKey(bundle: unknown): boolean {
  const named = (bundle as Partial<SealingBundle> | null | undefined)?.key_ref;
  const own = ownBundle()?.key_ref;
  return own !== undefined && named?.tenant_id === own.tenant_id && named.app_key_id === own.app_key_id;
}

/** Refuses a client token that is of another workspace, for another action or page, or over, before anything but the token was sent. @throws SvcError */
export const checkToken = (client: SvcClient, token: string, action: 'tokenize' | RevealAction): Promise<void> =>
  client.check(token, { workspace: written('svc-workspace'), action }, written('svc-parent'));

export const asSvcError = (error: unknown): SvcError =>
  error instanceof SvcError ? error : new SvcError('invalid_request', error instanceof Error ? error.message : String(error));

const isMessage = (data: unknown): data is ToField =>
  typeof data === 'object' && data !== null && 'type' in data && (data.type === 'svc:init' || data.type === 'svc:submit');

export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}
