// The documents of hosted fields. Nothing of a caller gets into them but an origin that the workspace has registered.

export type FieldPage = {
  nonce: string;
  style: string;
  /** Path of the script. */
  script: string;
  /** Origin of the page around it. */
  page: string;
  /** Origin of the API of the space. */
  api: string;
  theme: 'light' | 'dark' | 'auto';
};

/** Controls have no names: a form that is sent without its script sends nothing. */
export const cardPage = ({ keepsName, ...facts }: FieldPage & { keepsName: boolean }): string =>
  document(
    { ...facts, title: 'Card details', metas: { 'svc-keeps': keepsName ? 'name' : '' } },
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
    { ...facts, title: 'Protected value', metas: {} },
    `<div class="value"><span id="value" tabindex="0" role="textbox" aria-readonly="true" aria-label="Protected value"></span><button id="copy" type="button" hidden>Copy</button></div>`,
  );

/** One answer for an unknown workspace and for a page that is not registered. `known`: false while the service is starting. */
export const refusalPage = ({ nonce, style, known }: { nonce: string; style: string; known: boolean }): string => {
  const text = known
    ? 'This field can only be shown by a page that its workspace has registered. Add the origin of the page under Encryption, Element origins.'
    : 'The service is starting. Try again shortly.';
  return `${head({ nonce, style, theme: 'auto', title: 'Hosted field' })}</head>
<body><p>${text}</p></body></html>
`;
};

const control = (id: string, label: string, attributes: string, beside = ''): string =>
  `<div id="${id}-field"><label class="label" for="${id}"><span>${label}</span>${beside}</label>
<input id="${id}" type="text" ${attributes} aria-describedby="${id}-error" aria-required="true" autocorrect="off" spellcheck="false">
<p class="error" id="${id}-error" role="alert"></p></div>`;

type Head = { nonce: string; style: string; theme: string; title: string };

const document = ({ script, page, api, metas, ...rest }: FieldPage & Head & { metas: Record<string, string> }, body: string): string =>
  `${head(rest)}
${Object.entries({ 'svc-parent': page, 'svc-base': api, ...metas })
  .map(([name, content]) => `<meta name="${name}" content="${content}">`)
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
