'use client';

import { Eye, EyeOff } from 'lucide-react';
import { type ClipboardEvent, type ComponentProps, type ReactNode, useId, useState } from 'react';
import { IconButton } from './button.tsx';
import { cn } from './cn.ts';
import { useFieldControl } from './field.tsx';

export type SecretInputProps = Omit<ComponentProps<'input'>, 'type' | 'autoComplete' | 'size'> & {
  /** What a right value looks like for this provider, e.g. "Starts with sk_live_". */
  format?: ReactNode;
};

/**
 * For material that must not leave the page by accident: hidden until asked, refused to password managers and spell checkers,
 * and a paste loses line breaks and outer blanks (terminals add them) with a notice instead of silently.
 */
export function SecretInput({ format, className, onPaste, ...rest }: SecretInputProps) {
  const [shown, setShown] = useState(false);
  const [notice, setNotice] = useState('');
  const noticeId = useId();
  const wired = useFieldControl({ ...rest, 'aria-describedby': cn(rest['aria-describedby'], noticeId) });

  const paste = (event: ClipboardEvent<HTMLInputElement>) => {
    onPaste?.(event);
    if (event.defaultPrevented) return;
    const pasted = event.clipboardData.getData('text');
    const clean = pasted.replace(/[\r\n]+/g, '').trim();
    setNotice(clean === pasted ? '' : 'Line breaks and surrounding spaces were removed from the pasted value.');
    if (clean === pasted) return;
    event.preventDefault();
    insert(event.currentTarget, clean);
  };

  return (
    <span className="flex flex-col gap-1.5">
      <span className={cn('field-surface flex h-8 w-full items-center', className)}>
        <input
          {...rest}
          {...wired}
          type={shown ? 'text' : 'password'}
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          data-1p-ignore=""
          data-lpignore="true"
          data-bwignore=""
          data-form-type="other"
          onPaste={paste}
          className="h-full w-full min-w-0 bg-transparent px-2.5 font-mono outline-none placeholder:font-sans placeholder:text-ink-3"
        />
        <IconButton
          size="sm"
          label={shown ? 'Hide value' : 'Show value'}
          aria-pressed={shown}
          icon={shown ? <EyeOff /> : <Eye />}
          disabled={rest.disabled}
          onClick={() => setShown(!shown)}
          className="mr-0.5 size-6.5"
        />
      </span>
      {format && !notice && <span className="text-ink-3 text-xs">{format}</span>}
      <span id={noticeId} role="status" className={cn('text-warn-ink text-xs', !notice && 'sr-only')}>
        {notice}
      </span>
    </span>
  );
}

/** Types text into a field as the browser would, so that controlled and registered inputs both hear of it. */
function insert(input: HTMLInputElement, text: string): void {
  const start = input.selectionStart ?? input.value.length;
  const end = input.selectionEnd ?? input.value.length;
  input.setRangeText(text, start, end, 'end');
  const value = input.value;
  // React remembers the last value it saw through its own setter; going through the prototype makes it notice.
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value);
  input.dispatchEvent(new Event('input', { bubbles: true }));
}
