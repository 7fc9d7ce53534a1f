import { type ClassValue, clsx } from 'clsx';
import { extendTailwindMerge } from 'tailwind-merge';

const merge = extendTailwindMerge({ extend: { theme: { text: ['2xs'] } } });

/** Joins class names; of two that set the same property the later wins, so a caller's `className` always beats ours. */
export const cn = (...classes: ClassValue[]): string => merge(clsx(classes));
