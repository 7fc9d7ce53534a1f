import { type ClassValue, clsx } from 'clsx';
import { extendTailwindMerge } from 'tailwind-merge';

/** Joins class names. Of two that set the same property the later one wins, so a caller's `className` always beats ours. */
export function cn(...classes: ClassValue[]): string {
  return merge(clsx(classes));
}

/** Tokens of app/globals.css that Tailwind itself doesn't have: without them `text-2xs` would be taken for a colour. */
const merge = extendTailwindMerge({
  extend: { theme: { text: ['2xs'], shadow: ['overlay'], animate: ['shimmer', 'pulse-dot'] } },
});
