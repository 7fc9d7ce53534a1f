import type { SealingBundle } from '#server/crypto/portable/seal.ts';

// The documents of hosted fields. Nothing of a caller gets into them but an origin that the workspace has registered.

export type FieldPage = {
  nonce: string;
  style: string;
  /** Path of the script. */
  script: string;
  /** Origin of the page around it. */
  page: string;
  /** ID of the workspace whose field it is: a client token of another one is refused. */
  workspace: string;
  /** The key that the field seals for; null when it takes a client token instead. */
  bundle: SealingBundle | null;
  /** Origin of the API of the space. */
  api: string;
  theme: 'light' | 'dark' | 'auto';
};

/** Controls have no names: a form that is sent without its script sends nothing. */
export const cardPage = (facts: FieldPage): string =>
  document(
    { ...facts, title: 'Card details' },
    `<form id="form" novalidate>
${control('number', 'Card number', 'autocomplete="cc-number" inputmode="numeric" placeholder="1234 1234 1234 1234" maxlength="31"', '<span id="brand" aria-live="polite"></span>')}
<div class="row">
${control('expiry', 'Expiry date', 'autocomplete="cc-exp" inputmode="numeric" placeholder="MM / YY" maxlength="11"')}
${control('name', 'Name on card', 'autocomplete="cc-name" maxlength="120"')}
</div>
<button id="submit" type="submit" disabled>Save card</button>
</form>`,
  );

export const revealPage = (facts: FieldPage): string =>
  document(
    { ...facts, title: 'Protected value' },
    `<div class="value"><span id="value" tabindex="0" role="textbox" aria-readonly="true" aria-label="Protected value"></span><button id="copy" type="button" hidden>Copy</button></div>`,
  );

/** `unregistered` is one answer for an unknown workspace and for a page that is not registered. */
export const REFUSALS = {
  unregistered:
    'This field can only be shown by a page that its workspace has registered. Add the origin of the page under Encryption, Element origins.',
  no_key:
    'The workspace has no such encryption key in this space. Check the name under Encryption in the dashboard; opening that page makes the default key.',
  starting: 'The service is starting. Try again shortly.',
  unavailable: 'The field is not available at the moment. Reload the page to try again.',
};

export const refusalPage = ({ nonce, style, text }: { nonce: string; style: string; text: string }): string =>
  `${head({ nonce, style, theme: 'auto', title: 'Hosted field' })}</head>
<body><p>${text}</p></body></html>
`;

const control = (id: string, label: string, attributes: string, beside = ''): string =>
  `<div id="${id}-field"><label class="label" for="${id}"><span>${label}</span>${beside}</label>
<input id="${id}" type="text" ${attributes} aria-describedby="${id}-error" aria-required="true" autocorrect="off" spellcheck="false">
<p class="error" id="${id}-error" role="alert"></p></div>`;

type Head = { nonce: string; style: string; theme: string; title: string };

const document = ({ script, page, api, workspace, bundle, ...rest }: FieldPage & Head, body: string): string =>
  `${head(rest)}
${Object.entries({ 'svc-parent': page, 'svc-base': api, 'svc-workspace': workspace, 'svc-bundle': bundle ? JSON.stringify(bundle) : '' })
  .map(([name, content]) => `<meta name="${name}" content="${content.replaceAll('"', '&quot;')}">`)
  .join('\n')}
<script type="module" src="${script}"></script></head>
<body><main><h1 class="unseen">${rest.title}</h1>
${body}
<p id="status" role="status"></p></main></body></html>
`;

const head = ({ nonce, style, theme, title }: Head): string =>
  `<!doctype html>
<html lang="en" data-theme="${theme}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style nonce="${nonce}">${style}</style>`;
