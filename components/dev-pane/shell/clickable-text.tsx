'use client';

import { textLink } from '#components/ui/layout.tsx';

/** A sentence with lines in it, `like this`: each of them is typed by a press. */
export function ClickableText({ text, onType }: { text: string; onType: (line: string) => void }) {
  return text.split('`').map((part, i) =>
    i % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no identity but their place.
      <button key={i} type="button" onClick={() => onType(part)} className={`${textLink} max-w-full break-words text-left font-mono`}>
        {part}
      </button>
    ),
  );
}
