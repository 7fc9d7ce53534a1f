import type { FromField, ToField } from './messages.ts';

// The field's end of the conversation with the page around it.

/** What the service wrote into the document: the page's origin, which the workspace has registered, and the API of the space. */
export const written = (name: 'svc-parent' | 'svc-base' | 'svc-keeps'): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** Hears only the window around this one, and only while it is of the origin that this field was loaded for. */
export function converse(hear: (message: ToField) => void): (message: FromField) => void {
  const page = written('svc-parent');
  addEventListener('message', ({ source, origin, data }) => {
    if (window.parent === window || source !== window.parent || origin !== page || !isMessage(data)) return;
    if (data.type === 'svc:init' && data.origin !== page) return;
    hear(data);
  });
  const send = (message: FromField) => {
    if (window.parent !== window) window.parent.postMessage(message, page);
  };
  new ResizeObserver(() =>
    send({ type: 'svc:resize', height: Math.ceil(document.documentElement.getBoundingClientRect().height) }),
  ).observe(document.documentElement);
  send({ type: 'svc:ready' });
  return send;
}

const isMessage = (data: unknown): data is ToField =>
  typeof data === 'object' && data !== null && 'type' in data && (data.type === 'svc:init' || data.type === 'svc:submit');

export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}
