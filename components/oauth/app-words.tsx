/**
 * A client's own words. They were sanitized on the server; the frame has no scripts, no forms and no way to the page around it, and its links open
 * elsewhere (interface rule 21 §7).
 */
export const AppWords = ({ html, name }: { html: string; name: string }) => (
  <section aria-label={`From ${name}`} className="rounded-lg border border-line-strong bg-surface">
    <p className="border-line border-b px-4 py-2 text-ink-3 text-xs [overflow-wrap:anywhere]">{name} says</p>
    <iframe
      title={`A note from ${name}`}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      srcDoc={`<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${html}`}
      className="h-36 w-full"
    />
  </section>
);

// The frame follows the colour scheme of the element that it stands in.
const STYLE = `:root{color-scheme:light dark}body{margin:12px 16px;font:14px/1.5 ui-sans-serif,system-ui,sans-serif;color:light-dark(#2a2d35,#e6e8ec);background:transparent;overflow-wrap:anywhere}a{color:light-dark(#3a37b8,#b3b2ff)}p,ul,ol{margin:0 0 8px}`;
