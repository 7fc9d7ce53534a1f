'use client';

import { Input } from './input.tsx';
import { useTimeStyle } from './time-style.ts';

export type DateTimeInputProps = {
  /** ISO 8601 or null. */
  value: string | null;
  onChange: (value: string | null) => void;
  label?: string;
  disabled?: boolean;
};

/** A moment in the zone the viewer prefers, as pages show times; gives ISO 8601 in UTC, null when empty. */
export function DateTimeInput({ value, onChange, label, disabled }: DateTimeInputProps) {
  const utc = useTimeStyle().times === 'utc';
  return (
    <Input
      type="datetime-local"
      aria-label={label}
      disabled={disabled}
      value={value ? typedOf(value, utc) : ''}
      onChange={(event) => {
        const at = new Date(utc ? `${event.target.value}Z` : event.target.value);
        onChange(event.target.value === '' || Number.isNaN(at.getTime()) ? null : at.toISOString());
      }}
    />
  );
}

/** `2026-11-21T10:30` in UTC or in the zone of the browser. */
function typedOf(iso: string, utc: boolean): string {
  const at = new Date(iso);
  return new Date(at.getTime() - (utc ? 0 : at.getTimezoneOffset() * 60_000)).toISOString().slice(0, 16);
}
