/** A part of a text, `[start, end)` in UTF-16 units, that must not be stored. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** Stands in the placeholder and, as `secret.{kind}`, in the finding. */
  readonly kind: string;
}

/** One kind of secret that shows by its form. */
export interface SecretRule {
  readonly kind: string;
  /** What reviewers read: "… was replaced". */
  readonly label: string;
  /** Global, with bounded repeats. Where it has a group named `secret`, only that part is replaced. */
  readonly pattern: RegExp;
  /** Cheap test before the pattern runs: lower-case text that every match holds. */
  readonly hint: string;
}

/** Not in the middle of a longer token. */
const START = '(?<![A-Za-z0-9_])';
const END = '(?![A-Za-z0-9_])';

function token(kind: string, label: string, hint: string, body: string): SecretRule {
  return { kind, label, hint, pattern: new RegExp(`${START}${body}${END}`, 'gu') };
}

function inside(kind: string, label: string, hint: string, pattern: RegExp): SecretRule {
  return { kind, label, hint, pattern };
}

/**
 * Forms as their issuers document them. Order is priority: the first rule that claims a character keeps it, so narrow
 * forms stand before wide ones.
 */
export const SECRET_RULES: readonly SecretRule[] = [
  token('jwt', 'A JSON web token', 'eyj', 'eyJ[\\w-]{8,4000}\\.eyJ[\\w-]{8,8000}\\.[\\w-]{0,2000}'),
  token('aws-access-key', 'An AWS access key id', 'a', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}'),
  inside(
    'aws-secret-key',
    'An AWS secret access key',
    'aws',
    /aws.{0,20}(?:secret|access).{0,20}?["'\s:=]{1,5}(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/giu,
  ),
  token('gcp-api-key', 'A Google API key', 'aiza', 'AIza[\\w-]{35}'),
  token('gcp-oauth-token', 'A Google OAuth token', 'ya29.', 'ya29\\.[\\w-]{20,1000}'),
  token('gcp-client-secret', 'A Google OAuth client secret', 'gocspx-', 'GOCSPX-[\\w-]{20,60}'),
  inside(
    'azure-storage-key',
    'An Azure storage or service key',
    'key=',
    /(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{40,100}={0,2})/giu,
  ),
  inside(
    'azure-sas',
    'An Azure shared access signature',
    'sig=',
    /[?&;]sig=(?<secret>[\w%+/-]{30,200}={0,2})/gu,
  ),
  inside(
    'azure-client-secret',
    'An Azure client secret',
    'q~',
    /(?<![\w.~-])(?<secret>[\w.~-]{3}\dQ~[\w.~-]{31,34})(?![\w.~-])/gu,
  ),
  token('github-token', 'A GitHub token', 'gh', 'gh[pousr]_[A-Za-z0-9]{36,255}'),
  token('github-token', 'A GitHub token', 'github_pat_', 'github_pat_\\w{22,255}'),
  token('gitlab-token', 'A GitLab token', 'gl', 'gl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent)-[\\w-]{20,200}'),
  token('slack-token', 'A Slack token', 'xox', 'xox[abeoprs]-[A-Za-z0-9-]{10,250}'),
  token('slack-token', 'A Slack token', 'xapp-', 'xapp-\\d-[A-Za-z0-9-]{10,250}'),
  inside(
    'slack-webhook',
    'A Slack webhook address',
    'hooks.slack.com',
    /hooks\.slack\.com\/(?:services|workflows)\/(?<secret>[A-Za-z0-9/]{20,200})/gu,
  ),
  token('stripe-key', 'A Stripe key', '_', '(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/]{16,250}'),
  token('anthropic-key', 'An Anthropic key', 'sk-ant-', 'sk-ant-[\\w-]{20,200}'),
  token(
    'openai-key',
    'An API key of the OpenAI form',
    'sk-',
    'sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[\\w-]{0,200}\\d)[A-Za-z0-9][\\w-]{19,200}',
  ),
  token('hugging-face-token', 'A Hugging Face token', 'hf_', 'hf_[A-Za-z]{30,60}'),
  token('npm-token', 'An npm token', 'npm_', 'npm_[A-Za-z0-9]{36}'),
  token('pypi-token', 'A PyPI token', 'pypi-ag', 'pypi-Ag[\\w-]{50,1000}'),
  token('rubygems-key', 'A RubyGems key', 'rubygems_', 'rubygems_[0-9a-f]{48}'),
  token('docker-token', 'A Docker token', 'dckr_', 'dckr_(?:pat|oat)_[\\w-]{20,100}'),
  token('sendgrid-key', 'A SendGrid key', 'sg.', 'SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}'),
  token('twilio-key', 'A Twilio key', 'sk', 'SK[0-9a-f]{32}'),
  token('mailgun-key', 'A Mailgun key', 'key-', 'key-[0-9a-f]{32}'),
  token('mailchimp-key', 'A Mailchimp key', '-us', '[0-9a-f]{32}-us\\d{1,2}'),
  token('digitalocean-token', 'A DigitalOcean token', '_v1_', 'do[opr]_v1_[0-9a-f]{64}'),
  token('shopify-token', 'A Shopify token', 'shp', 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}'),
  token('square-token', 'A Square token', 'sq0', 'sq0(?:atp|csp|idp)-[\\w-]{22,60}'),
  inside(
    'telegram-token',
    'A Telegram bot token',
    ':aa',
    /(?<![A-Za-z0-9_])(?:bot)?(?<secret>\d{8,10}:AA[\w-]{33})(?![A-Za-z0-9_])/gu,
  ),
  token('discord-token', 'A Discord bot token', '.', '[MNO][\\w-]{23,25}\\.[\\w-]{6}\\.[\\w-]{27,40}'),
  inside(
    'discord-webhook',
    'A Discord webhook address',
    '/api/webhooks/',
    /\/api\/webhooks\/\d{15,21}\/(?<secret>[\w-]{60,80})/gu,
  ),
  token('databricks-token', 'A Databricks token', 'dapi', 'dapi[0-9a-f]{32}(?:-\\d)?'),
  token('vault-token', 'A HashiCorp Vault token', 'hv', 'hv[sbr]\\.[\\w-]{24,250}'),
  token(
    'terraform-token',
    'A Terraform Cloud token',
    '.atlasv1.',
    '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,80}',
  ),
  token('linear-key', 'A Linear key', 'lin_', 'lin_(?:api|oauth)_[A-Za-z0-9]{32,64}'),
  token('notion-token', 'A Notion token', 'ntn_', 'ntn_[A-Za-z0-9]{40,60}'),
  token('new-relic-key', 'A New Relic key', 'nrak-', 'NRAK-[A-Z0-9]{27}'),
  token('grafana-token', 'A Grafana token', 'gl', 'gl(?:sa|c)_[A-Za-z0-9+/_]{32,400}={0,2}'),
  token('postman-key', 'A Postman key', 'pmak-', 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'),
  token('planetscale-token', 'A PlanetScale token', 'pscale_', 'pscale_(?:tkn|pw|oauth)_[\\w.-]{32,64}'),
  token('supabase-token', 'A Supabase token', 'sbp_', 'sbp_[0-9a-f]{40}'),
  token('sentry-token', 'A Sentry token', 'sntry', 'sntry[su]_[\\w+/=-]{40,400}'),
  token('doppler-token', 'A Doppler token', 'dp.', 'dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9._-]{40,60}'),
  token('groq-key', 'A Groq key', 'gsk_', 'gsk_[A-Za-z0-9]{48,60}'),
  token('replicate-token', 'A Replicate token', 'r8_', 'r8_[A-Za-z0-9]{37}'),
  token('age-key', 'An age secret key', 'age-secret-key-', 'AGE-SECRET-KEY-1[A-Z0-9]{58}'),
  token('errata-key', 'An Errata API key', 'errata_', 'errata_[\\w-]{32,100}'),
  inside(
    'url-password',
    'The password of a URL or connection string',
    '://',
    // The password may hold a number sign that nobody encoded, if a host follows.
    /[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/?#@"'<>]{0,256}:(?<secret>[^\s/?#"'<>]{1,256}(?:#[^\s/?#"'<>]{0,64})?)@/giu,
  ),
  inside(
    'bearer-token',
    'A bearer token',
    'bearer',
    /\bbearer\s{1,4}(?<secret>(?=[\w.~+/-]{0,400}\d)[\w.~+/-]{20,2000}={0,2})/giu,
  ),
  inside(
    'basic-credentials',
    'HTTP basic credentials',
    'basic',
    /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?basic\s{1,4}(?<secret>[A-Za-z0-9+/]{8,1000}={0,2})/giu,
  ),
];
