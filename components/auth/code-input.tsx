'use client';

import { type RefObject, useEffect } from 'react';
import { Input } from '#components/ui/input.tsx';

export type CodeInputProps = {
  value: string;
  onChange: (digits: string) => void;
  /** Called once when the sixth digit is there, so that a pasted code needs no click. */
  onComplete: (digits: string) => void;
  disabled?: boolean;
  autoFocus?: boolean;
  inputRef?: RefObject<HTMLInputElement | null>;
  /** Selects the digits when it changes to a message: the next ones overwrite them. */
  problem?: string | undefined;
};

/** Six digits, from a mail or an authenticator app. */
export function CodeInput({ value, onChange, onComplete, disabled, autoFocus, inputRef, problem }: CodeInputProps) {
  useEffect(() => {
    if (problem) inputRef?.current?.select();
  }, [problem, inputRef]);
  const type = (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, 6);
    onChange(digits);
    if (digits.length === 6 && digits !== value) onComplete(digits);
  };
  return (
    <Input
      ref={inputRef}
      value={value}
      onChange={(event) => type(event.target.value)}
      mono
      size="lg"
      inputMode="numeric"
      autoComplete="one-time-code"
      autoFocus={autoFocus}
      disabled={disabled}
      placeholder="000000"
      className="h-12 text-center text-xl tracking-[0.4em]"
    />
  );
}
