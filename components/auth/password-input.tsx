'use client';

import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { useFieldControl } from '#components/ui/field.tsx';

export type PasswordInputProps = Omit<ComponentProps<'input'>, 'type' | 'autoComplete'> & {
  autoComplete: 'current-password' | 'new-password';
};

/** A person's own password: open to password managers, unlike the values of `SecretInput`, and shown on request so that typing can be checked. */
export function PasswordInput(props: PasswordInputProps) {
  const [shown, setShown] = useState(false);
  const wired = useFieldControl(props);
  return (
    <span className="field-surface flex h-10 w-full items-center">
      <input
        {...props}
        {...wired}
        type={shown ? 'text' : 'password'}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        className="h-full w-full min-w-0 bg-transparent px-2.5 outline-none placeholder:text-ink-3"
      />
      <IconButton
        size="sm"
        label={shown ? 'Hide password' : 'Show password'}
        aria-pressed={shown}
        icon={shown ? <EyeOff /> : <Eye />}
        onClick={() => setShown(!shown)}
        className="mr-1.5"
      />
    </span>
  );
}
