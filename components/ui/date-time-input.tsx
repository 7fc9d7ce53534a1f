'use client';

import { Input } from './input.tsx';

export type DateTimeInputProps = {
  /** ISO 8601 or null. */
  value: string | null;
  onChange: (value: string | null) => void;
  label?: string;
  disabled?: boolean;
};

/** A moment in the viewer's zone; gives ISO 8601 in UTC, null when empty. */
export function DateTimeInput({ value, onChange, label, disabled }: DateTimeInputProps) {
  return (
    <Input
      type="datetime-local"
      aria-label={label}
      disabled={disabled}
      value={value ? localOf(value) : ''}
      onChange={(event) => {
        const at = new Date(event.target.value);
        onChange(event.target.value === '' || Number.isNaN(at.getTime()) ? null : at.toISOString());
      }}
    />
  );
}

/** `2026-11-21T10:30` in the viewer's zone. */
function localOf(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
