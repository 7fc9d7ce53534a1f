'use client';

import { Eye, EyeOff } from 'lucide-react';
import { useId, useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { useFieldControl } from '#components/ui/field.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { useSettledText } from '#components/ui/use-settled.ts';
import { valueHints } from './value-hints.ts';

export type ValueInputProps = {
  value: string;
  onChange: (value: string) => void;
  onBlur?: () => void;
  /** One credential, and not a file of many: what it looks like is said. */
  hints?: boolean;
};

/**
 * The value of a secret as it is typed or pasted: several lines, hidden until asked, stored byte for byte. Nothing is trimmed behind the
 * person's back; what is often an accident (blanks and line ends at either end) is named and removed only on request.
 */
export function ValueInput({ value, onChange, onBlur, hints = false }: ValueInputProps) {
  const [shown, setShown] = useState(false);
  const noteId = useId();
  const wired = useFieldControl({ 'aria-describedby': noteId });
  const bytes = new TextEncoder().encode(value).length;
  const blanks = blanksOf(value);
  const { space } = useScope();
  const said = useSettledText(value, 400);
  return (
    <div className="flex flex-col gap-1.5">
      <textarea
        {...wired}
        rows={3}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        data-1p-ignore=""
        data-lpignore="true"
        data-bwignore=""
        data-form-type="other"
        className={cn(
          'field-surface max-h-60 min-h-16 w-full resize-y whitespace-pre-wrap break-all px-2.5 py-1.5 font-mono text-xs leading-5',
          !shown && '[-webkit-text-security:disc]',
        )}
      />
      <div id={noteId} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        <Button
          size="sm"
          variant="ghost"
          className="-ml-2"
          aria-pressed={shown}
          icon={shown ? <EyeOff /> : <Eye />}
          onClick={() => setShown(!shown)}
        >
          {shown ? 'Hide' : 'Show'} value
        </Button>
        <span className="figures text-ink-3">{sizeOf(value, bytes)}</span>
        {blanks && (
          <span role="status" className="flex flex-wrap items-center gap-x-2 text-warn-ink">
            {blanks}
            <Button size="sm" onClick={() => onChange(value.trim())}>
              Remove whitespace
            </Button>
          </span>
        )}
      </div>
      {hints && (
        <div role="status" className="flex flex-col gap-0.5 text-xs empty:hidden">
          {valueHints(said, space, Date.now()).map(({ tone, text }) => (
            <span key={text} className={tone === 'warn' ? 'text-warn-ink' : 'text-ink-3'}>
              {text}
            </span>
          ))}
        </div>
      )}
    </div>
  );
}

function sizeOf(value: string, bytes: number): string {
  if (value === '') return 'Empty';
  const characters = [...value].length;
  const lines = value.split('\n').length;
  const parts = [counted(characters, 'character')];
  if (bytes !== characters) parts.push(`${grouped(bytes)} bytes`);
  if (lines > 1) parts.push(`${grouped(lines)} lines`);
  return parts.join(', ');
}

function blanksOf(value: string): string | undefined {
  if (value === '' || value.trim() === value) return undefined;
  if (value.trim() === '') return 'The value is only whitespace.';
  const end = /\s+$/.exec(value)?.[0];
  const start = /^\s+/.exec(value)?.[0];
  const at = start && end ? 'Starts and ends with' : end ? 'Ends with' : 'Starts with';
  const kind = /[\r\n]/.test(`${start ?? ''}${end ?? ''}`) ? 'a line break' : 'whitespace';
  return `${at} ${kind}, which is stored as part of the value.`;
}
