import { cn } from './cn.ts';

export type EnvironmentDotProps = {
  name: string;
  /** `#rrggbb`, as the environment has it. */
  color: string;
  /** Only the dot; the name is read out. */
  bare?: boolean;
  className?: string;
};

/** An environment by its own colour and its name; never by colour alone. */
export function EnvironmentDot({ name, color, bare, className }: EnvironmentDotProps) {
  // The colour is data: anything but a hex colour is not put into a style.
  const safe = /^#[0-9a-f]{6}$/i.test(color) ? color : undefined;
  return (
    <span title={bare ? name : undefined} className={cn('inline-flex min-w-0 max-w-full items-center gap-1.5', className)}>
      <span
        aria-hidden
        className="keep-fill size-2.5 shrink-0 rounded-full border border-ink/25 bg-accent"
        style={{ backgroundColor: safe }}
      />
      <span className={bare ? 'sr-only' : 'truncate'}>{name}</span>
    </span>
  );
}
