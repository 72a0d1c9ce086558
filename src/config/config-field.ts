import { z } from 'zod';

/** One thing that can be set. This table drives parsing, `--help` and the README's table of settings. */
export interface ConfigField {
  readonly key: string;
  readonly env: string;
  /** Other spellings of the variable; the first that is set counts. */
  readonly aliases?: readonly string[] | undefined;
  /** Long flag without dashes; none where only the environment makes sense. */
  readonly flag?: string | undefined;
  /** What stands after the flag in help texts. */
  readonly placeholder: string;
  /** As shown; the parsed default is `fallback`. */
  readonly default: string;
  readonly fallback: string | undefined;
  readonly description: string;
  /** Completes "Expected … for NAME". */
  readonly expected: string;
  readonly schema: z.ZodType<unknown, string>;
  /** Never shown in messages. */
  readonly secret?: true;
}

export const text = z.string().trim().min(1);
export const yesNo = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no']))
  .transform((value) => value === 'true' || value === '1' || value === 'yes');

/** `https://host:port` each, nothing behind it: that is what browsers send as Origin. */
export const originList = z
  .string()
  .transform((value) => value.split(',').map((origin) => origin.trim()))
  .transform((origins) => origins.filter((origin) => origin !== ''))
  .pipe(z.array(z.string().regex(/^https?:\/\/[^\s/,]+$/)));

export function whole(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));
}

export function share(max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^(0|1|0?\.\d{1,9})$/)
    .transform(Number)
    .pipe(z.number().min(0).max(max));
}

export function flagField(field: Omit<ConfigField, 'fallback'> & { fallback?: string }): ConfigField {
  return { fallback: field.default, ...field };
}

export function limit(
  key: string,
  env: string,
  fallback: number,
  max: number,
  description: string,
): ConfigField {
  return flagField({
    key: `limits.${key}`,
    env: `ERRATA_${env}`,
    flag: env.toLowerCase().replaceAll('_', '-'),
    placeholder: 'n',
    default: String(fallback),
    description,
    expected: `a whole number between 1 and ${max}`,
    schema: whole(1, max),
  });
}
