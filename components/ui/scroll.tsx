import type { HTMLAttributes } from 'react';
import { cn } from './cn.ts';

export type ScrollProps = HTMLAttributes<HTMLElement> & { as?: 'div' | 'pre' | 'section' };

/** A box that scrolls by itself. Without a mouse it can only be moved where the focus reaches it. */
export function Scroll({ as: Box = 'div', className, ...rest }: ScrollProps) {
  return <Box tabIndex={0} className={cn('focus-visible:-outline-offset-2', className)} {...rest} />;
}
