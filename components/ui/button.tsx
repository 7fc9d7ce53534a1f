'use client';

import { cva, type VariantProps } from 'class-variance-authority';
import { type ComponentProps, type MouseEvent, type ReactNode, useId } from 'react';
import { Link } from '#components/ui/link.tsx';
import { cn } from './cn.ts';
import { ariaKeys, useWorkingKeys } from './hotkeys.ts';
import { Kbd } from './kbd.tsx';
import { Spinner } from './spinner.tsx';
import { Tooltip } from './tooltip.tsx';

const buttonStyles = cva(
  'relative inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md border font-medium transition-colors duration-100 aria-disabled:opacity-55 disabled:opacity-55 [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        primary: 'border-transparent bg-accent text-on-accent shadow-xs hoverable:bg-accent-hover',
        secondary: 'border-line-strong bg-surface text-ink shadow-xs hoverable:bg-subtle pressable:bg-pressed data-popup-open:bg-subtle',
        ghost:
          'border-transparent bg-transparent text-ink-2 hoverable:bg-subtle hoverable:text-ink pressable:bg-pressed data-popup-open:bg-subtle data-popup-open:text-ink',
        danger: 'border-transparent bg-bad text-on-bad shadow-xs hoverable:bg-bad-hover',
        'danger-quiet': 'border-line-strong bg-surface text-bad-ink shadow-xs hoverable:border-bad-line hoverable:bg-bad-soft',
      },
      size: {
        sm: 'h-7 px-2 text-xs [&_svg]:size-3.5',
        md: 'h-8 px-3 text-sm [&_svg]:size-4',
        lg: 'h-10 px-4 text-base [&_svg]:size-4',
      },
    },
    defaultVariants: { variant: 'secondary', size: 'md' },
  },
);

type Look = VariantProps<typeof buttonStyles>;

export type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> &
  Look & {
    icon?: ReactNode;
    /** The action is running: the button keeps its width, says it is busy and ignores clicks. */
    loading?: boolean;
    /** Why the button cannot be used. It stays focusable, so that everybody can read the reason. */
    disabledReason?: string | undefined;
    /** A hotkey to show after the label, e.g. `mod+enter`. */
    keys?: string;
    disabled?: boolean | undefined;
  };

/** A button. One that is disabled with a reason stays in reach of the keyboard and says why. */
export function Button(props: ButtonProps) {
  const { variant, size, icon, loading, disabledReason, keys, className, children, onClick, disabled, type = 'button', ...rest } = props;
  const reasonId = useId();
  const working = useWorkingKeys(keys);
  const inert = Boolean(loading || disabledReason);
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (!inert) return onClick?.(event);
    event.preventDefault();
    event.stopPropagation();
  };
  const button = (
    <button
      {...rest}
      type={type}
      disabled={disabled}
      aria-disabled={inert || undefined}
      aria-busy={loading || undefined}
      aria-keyshortcuts={working ? ariaKeys(working) : rest['aria-keyshortcuts']}
      aria-describedby={disabledReason ? reasonId : rest['aria-describedby']}
      onClick={press}
      className={cn(buttonStyles({ variant, size }), className)}
    >
      <span className={cn('inline-flex items-center gap-1.5', loading && 'invisible')}>
        {icon}
        {children}
        {keys && (
          <Kbd
            // The button is called what it does; its keys are read from aria-keyshortcuts.
            aria-hidden
            keys={keys}
            className="-mr-1 ml-1 max-md:hidden [&_kbd]:border-current/30 [&_kbd]:bg-transparent [&_kbd]:text-current [&_span]:text-current"
          />
        )}
      </span>
      {loading && <Spinner label="Working" className="absolute inset-0 m-auto items-center justify-center" />}
      {disabledReason && (
        <span id={reasonId} className="sr-only">
          {disabledReason}
        </span>
      )}
    </button>
  );
  return disabledReason ? <Tooltip content={disabledReason}>{button}</Tooltip> : button;
}

export type LinkButtonProps = ComponentProps<typeof Link> & Look & { icon?: ReactNode };

/** Looks like a button, goes somewhere: a real link with an address to copy and open in a new tab. */
export function LinkButton({ variant, size, icon, className, children, ...rest }: LinkButtonProps) {
  return (
    <Link {...rest} className={cn(buttonStyles({ variant, size }), className)}>
      {icon}
      {children}
    </Link>
  );
}

/** The same for what is no page of the dashboard, such as a file: the browser alone goes there. */
export function PlainLinkButton({ variant, size, icon, className, children, ...rest }: ComponentProps<'a'> & Look & { icon?: ReactNode }) {
  return (
    <a {...rest} className={cn(buttonStyles({ variant, size }), className)}>
      {icon}
      {children}
    </a>
  );
}

const square = { sm: 'size-7 px-0', md: 'size-8 px-0', lg: 'size-10 px-0' } as const;

export type IconButtonProps = Omit<ButtonProps, 'children' | 'icon'> & {
  /** The name of the action: read out, and shown as the tooltip. */
  label: string;
  icon: ReactNode;
  tooltipSide?: 'top' | 'bottom' | 'left' | 'right';
};

/** A button of an icon alone; its label is its name and its tooltip. */
export function IconButton({ label, icon, size, variant = 'ghost', className, tooltipSide = 'top', keys, ...rest }: IconButtonProps) {
  const working = useWorkingKeys(keys);
  const button = (
    <Button
      {...rest}
      size={size}
      variant={variant}
      aria-label={label}
      aria-keyshortcuts={working && ariaKeys(working)}
      className={cn(square[size ?? 'md'], className)}
    >
      {icon}
    </Button>
  );
  if (rest.disabledReason) return button;
  const hint = keys ? (
    <span className="flex items-center gap-2">
      {label} <Kbd keys={keys} />
    </span>
  ) : (
    label
  );
  return (
    <Tooltip content={hint} side={tooltipSide}>
      {button}
    </Tooltip>
  );
}
