import { cn } from '#components/ui/cn.ts';

export type Mark = { span: readonly [number, number]; title: string; tone: 'bad' | 'accent' | 'warn' | 'neutral' };

const looks = {
  bad: 'bg-bad-soft text-bad-ink decoration-bad-line',
  accent: 'bg-accent-soft text-accent-ink decoration-accent-line',
  warn: 'bg-warn-soft text-warn-ink decoration-warn-line',
  neutral: 'bg-subtle text-ink decoration-line-strong',
} as const;

/** A text with its matches highlighted. What a highlight means is also read out. */
export function MarkedText({ text, marks }: { text: string; marks: readonly Mark[] }) {
  const parts: { text: string; mark?: Mark; at: number }[] = [];
  let at = 0;
  for (const mark of [...marks].sort((a, b) => a.span[0] - b.span[0])) {
    const [start, end] = mark.span;
    if (start < at) continue;
    if (start > at) parts.push({ text: text.slice(at, start), at });
    parts.push({ text: text.slice(start, end), mark, at: start });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), at });
  return (
    <p className="max-h-80 overflow-auto whitespace-pre-wrap rounded-md border border-line bg-subtle p-3 font-mono text-xs [overflow-wrap:anywhere]">
      {parts.map((part) =>
        part.mark ? (
          <mark
            key={part.at}
            title={part.mark.title}
            className={cn('rounded-xs px-0.5 underline underline-offset-2', looks[part.mark.tone])}
          >
            {part.text}
            <span className="sr-only"> ({part.mark.title})</span>
          </mark>
        ) : (
          <span key={part.at}>{part.text}</span>
        ),
      )}
    </p>
  );
}
