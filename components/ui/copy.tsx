'use client';

import { Check, Copy } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { copyText } from './clipboard.ts';
import { cn } from './cn.ts';
import { Tooltip } from './tooltip.tsx';

/** `[state, copy]`; the state returns to idle after two seconds. A browser that refuses the clipboard gives `failed`. */
export function useCopy(): [state: 'idle' | 'copied' | 'failed', copy: (text: string) => Promise<void>] {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = useCallback(async (text: string) => {
    const done = await copyText(text).then(
      () => 'copied' as const,
      () => 'failed' as const,
    );
    setState(done);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState('idle'), 2000);
  }, []);
  return [state, copy];
}

const said = { idle: '', copied: 'Copied', failed: 'Couldn’t copy. Select the text and copy it manually.' } as const;

export type CopyButtonProps = {
  value: string;
  /** What is copied, for the name of the button: "Copy request id". */
  label: string;
  /** Show a word next to the icon. */
  text?: string;
  size?: 'sm' | 'md';
  variant?: 'ghost' | 'secondary' | 'primary';
  disabledReason?: string | undefined;
  className?: string;
  onCopied?: () => void;
};

/** Copies a value, and says whether that worked. */
export function CopyButton({
  value,
  label,
  text,
  size = 'sm',
  variant = text ? 'secondary' : 'ghost',
  disabledReason,
  className,
  onCopied,
}: CopyButtonProps) {
  const [state, copy] = useCopy();
  const icon = state === 'copied' ? <Check className="text-good-ink" /> : <Copy />;
  const press = () => void copy(value).then(onCopied);
  return (
    <>
      {text ? (
        <Button size={size} variant={variant} icon={icon} disabledReason={disabledReason} onClick={press} className={className}>
          {state === 'copied' ? 'Copied' : text}
          <span className="sr-only"> {label}</span>
        </Button>
      ) : (
        <IconButton
          size={size}
          variant={variant}
          label={said[state] || `Copy ${label}`}
          icon={icon}
          disabledReason={disabledReason}
          onClick={press}
          className={className}
        />
      )}
      <span role="status" className="sr-only">
        {said[state]}
      </span>
    </>
  );
}

export type CopyTextProps = {
  value: string;
  label: string;
  /** Shown instead of the whole value, e.g. a shortened id. */
  display?: string;
  mono?: boolean;
  className?: string;
};

/** Text that copies itself: ids, hosts, key prefixes. The whole text is the button. */
export function CopyText({ value, label, display = value, mono = true, className }: CopyTextProps) {
  const [state, copy] = useCopy();
  const Icon = state === 'copied' ? Check : Copy;
  return (
    <Tooltip content={said[state] || `Copy ${label}`}>
      <button
        type="button"
        aria-label={`Copy ${label} ${display}`}
        onClick={() => void copy(value)}
        className={cn(
          'group/copy -mx-1 inline-flex min-h-6 max-w-full items-center gap-1 rounded-sm px-1 text-left text-ink-2 hoverable:bg-subtle hoverable:text-ink',
          mono && 'font-mono text-xs',
          className,
        )}
      >
        <span className="truncate">{display}</span>
        <Icon
          aria-hidden
          className={cn(
            'size-3 shrink-0 transition-opacity',
            state === 'copied'
              ? 'text-good-ink'
              : 'text-ink-3 opacity-60 group-hover/copy:opacity-100 group-focus-visible/copy:opacity-100',
          )}
        />
        <span role="status" className="sr-only">
          {said[state]}
        </span>
      </button>
    </Tooltip>
  );
}
