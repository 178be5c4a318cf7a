"""What secrets look like, as data: tokens that vendors publish, names that hold secrets, values that are none.

Nothing here is compiled or runs; `neosian.redact` looks for it. A new rule needs a public source, texts that it must
catch and look-alikes that it must not (tests/test_redact.py), and its kind in docs/redaction.md.
"""

from __future__ import annotations


class Token:
    """A secret that tells its vendor by its first characters.

    ``starts`` are the literals to look for, in exact case. ``pattern`` (ASCII) must match from ``back`` characters
    before such a literal; its group 1, or all of it, is the secret. ``source`` names who published the format.
    """

    __slots__ = ("back", "kind", "pattern", "source", "starts")

    def __init__(self, kind: str, starts: str, pattern: str, source: str, *, back: int = 0) -> None:
        self.kind = kind
        self.starts = tuple(starts.split())
        self.pattern = pattern
        self.source = source
        self.back = back


SHORTEST_TOKEN = 16  # no token of the table is shorter, so shorter words need no look

# Where two overlap the first gives the kind. Every repeat has a bound, which keeps hostile input linear.
# fmt: off
TOKENS = (
    # Clouds
    Token("aws-access-key", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        "AWS IAM user guide, reference_identifiers: https://docs.aws.amazon.com/IAM/latest/UserGuide/"),
    Token("aws-secret-key", "AKIA ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\"']?[\s,:;|]{1,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "AWS IAM user guide, access keys as downloaded: id, comma, secret"),
    Token("aws-bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}", "AWS Bedrock user guide, API keys"),
    Token("google-api-key", "AIza", r"AIza[\w-]{35}",
        "Google Cloud docs, API keys: https://cloud.google.com/docs/authentication"),
    Token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{20,64}",
        "GitHub secret scanning: google_oauth_client_secret"),
    Token("google-oauth-token", "ya29. 1//0", r"(?:ya29\.|1//0)[\w-]{20,1024}",
        "Google identity docs, OAuth 2.0 tokens"),
    Token("azure-client-secret", "Q~", r"[\w~.]{3}\dQ~[\w~.-]{31,34}",
        "GitHub secret scanning: azure_active_directory_application_secret", back=4),
    Token("azure-key", "JQQJ9", r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{20,40}(?:==)?",
        "Microsoft security-utilities: common annotated key", back=52),
    Token("azure-storage-key", "AccountKey= SharedAccessKey=",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})", "Azure storage docs, connection strings"),
    Token("azure-sas", "sig=", r"sig=((?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,90}(?:=|%3[Dd]))",
        "Azure storage docs, shared access signatures"),
    Token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,64}",
        "DigitalOcean API reference, authentication"),
    Token("alibaba-access-key", "LTAI", r"LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])",
        "GitHub secret scanning: alibaba_cloud_access_key_id"),
    Token("tencent-secret-id", "AKID", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])",
        "GitHub secret scanning: tencent_cloud_secret_id"),
    Token("heroku-key", "HRKU-", r"HRKU-[\w-]{30,80}", "Heroku dev center, platform API tokens"),
    Token("fly-token", "fm1a_ fm1r_ fm2_ fo1_", r"(?:fm1[ar]_|fm2_|fo1_)[\w+/=-]{40,2048}",
        "Fly.io docs, access tokens"),
    Token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,512}", "HashiCorp Vault docs, tokens"),
    Token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,100}",
        "HCP Terraform docs, API tokens", back=14),
    Token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])",
        "Databricks docs, personal access tokens"),
    Token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}(?![A-Za-z0-9])", "Pulumi docs, access tokens"),
    Token("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.(?:pt|st|ct|sa)\.[\w.-]{36,100}",
        "Doppler docs, token formats"),
    Token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{30,64}",
        "PlanetScale docs, service tokens"),
    Token("supabase-key", "sbp_ sb_secret_", r"sb(?:p_[a-f0-9]{40}|_secret_[\w-]{20,64})", "Supabase docs, API keys"),
    Token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{32,64}", "Netlify docs, personal access tokens"),
    # Model makers
    Token("anthropic-key", "sk-ant-", r"sk-ant-[a-z]{2,10}\d{0,2}-[\w-]{16,256}",
        "Anthropic console; GitHub secret scanning: anthropic_api_key"),
    Token("openrouter-key", "sk-or-", r"sk-or-v1-[a-f0-9]{32,64}", "OpenRouter docs, authentication"),
    Token("langfuse-key", "sk-lf-", r"sk-lf-[a-f0-9-]{36}", "Langfuse docs, API keys"),
    Token("openai-key", "sk-",
        r"sk-(?:(?:proj|svcacct|admin|None)-(?=[\w-]{0,200}(?:\d|[A-Za-z0-9_]{20}))[\w-]{20,256}"
        r"|[A-Za-z0-9]{20,128}(?![A-Za-z0-9]))",
        "OpenAI docs, API keys; the plain form is shared by DeepSeek, Moonshot and others"),
    Token("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,64}",
        "Hugging Face docs, user access tokens"),
    Token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{30,80}", "Groq docs, API keys"),
    Token("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,120}", "xAI docs, API keys"),
    Token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,50}", "Replicate docs, API tokens"),
    Token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,64}", "Perplexity docs, API keys"),
    Token("nvidia-key", "nvapi-", r"nvapi-[\w-]{40,100}", "NVIDIA NIM docs, API keys"),
    Token("together-key", "tgp_v1_", r"tgp_v1_[\w-]{30,64}", "Together docs, API keys"),
    Token("cerebras-key", "csk-", r"csk-[a-z0-9]{40,64}", "Cerebras inference docs, API keys"),
    Token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,12}", "LangSmith docs, API keys"),
    Token("pinecone-key", "pcsk_", r"pcsk_\w{30,100}", "Pinecone docs, API keys"),
    Token("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}(?![A-Za-z0-9])", "ElevenLabs docs, authentication"),
    Token("tavily-key", "tvly-", r"tvly-[\w-]{20,64}", "Tavily docs, API keys"),
    # Code hosts
    Token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,255}",
        "GitHub docs, token formats: https://docs.github.com/en/authentication"),
    Token("github-token", "github_pat_", r"github_pat_\w{22,255}",
        "GitHub docs, fine-grained personal access tokens"),
    Token("gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glimt- glagent- glsoat- gloas- glffct- glrtr- GR1348941",
        r"(?:gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|soat|oas|ffct|rtr)-|GR1348941)[\w=-]{20,300}(?:\.[\w-]{2,32}){0,3}",
        "GitLab docs, token prefixes: https://docs.gitlab.com/security/tokens/"),
    Token("atlassian-token", "ATATT3 ATCTT3 ATBB", r"(?:AT[AC]TT3[\w=-]{50,300}|ATBB[A-Za-z0-9]{24,64})",
        "Atlassian docs, API tokens and Bitbucket app passwords"),
    # Package registries
    Token("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,64}", "npm docs, access tokens"),
    Token("pypi-token", "pypi-Ag", r"pypi-Ag[\w-]{40,1024}", "PyPI help, API tokens; the prefix of a macaroon"),
    Token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}", "RubyGems guides, API keys"),
    Token("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", "GitHub secret scanning: crates_io_api_token"),
    Token("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,64}", "Docker docs, access tokens"),
    Token("docker-login", '"auth"', r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{12,512}={0,2})\"",
        "Docker docs, config.json: auths"),
    Token("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])", "GitHub secret scanning: nuget_api_key"),
    Token("clojars-token", "CLOJARS_", r"CLOJARS_[a-f0-9]{60}", "Clojars wiki, deploy tokens"),
    Token("jfrog-token", "AKCp cmVmd", r"(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})(?![A-Za-z0-9])",
        "JFrog docs, API keys and reference tokens"),
    # Talk, mail, money, monitoring
    Token("slack-token", "xox xapp-", r"(?:xox[abcdeoprs](?:\.xox[bp])?-[\w%-]{10,400}|xapp-\d-[\w-]{10,400})",
        "Slack docs, token types"),
    Token("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,200})",
        "Slack docs, incoming webhooks"),
    Token("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{15,22}/([\w-]{50,100})", "Discord docs, webhooks"),
    Token("telegram-token", ":AA", r"(?<=\d{8}):(AA[\w-]{32,36})", "Telegram bot API, authorizing your bot"),
    Token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}",
        "Stripe docs, API keys"),
    Token("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,100}={0,2}", "Stripe docs, webhook signatures"),
    Token("twilio-key", "SK", r"SK[a-f0-9]{32}(?![A-Za-z0-9])", "Twilio docs, API keys"),
    Token("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", "SendGrid docs, API keys"),
    Token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
        "Shopify docs, access tokens"),
    Token("square-token", "sq0atp- sq0csp- EAAA", r"(?:sq0[ac][ts]p-[\w-]{22,43}|EAAA[\w-]{56,64}(?![A-Za-z0-9]))",
        "Square docs, access tokens"),
    Token("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,64}", "Notion docs, authorization"),
    Token("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,80}", "Linear docs, API keys"),
    Token("figma-token", "figd_", r"figd_[\w-]{32,64}", "Figma docs, personal access tokens"),
    Token("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", "Postman docs, API keys"),
    Token("newrelic-key", "NRAK- NRRA-", r"NR(?:AK|RA)-[A-Za-z0-9]{27,42}", "New Relic docs, API keys"),
    Token("grafana-token", "glsa_ glc_", r"gl(?:sa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|c_[A-Za-z0-9+/]{32,400}={0,2})",
        "Grafana docs, service accounts"),
    Token("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,400}", "Sentry docs, auth tokens"),
    Token("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{100,2048}={0,3}",
        "1Password docs, service accounts"),
    Token("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}", "age specification"),
    Token("jwt", "eyJ", r"eyJ[\w-]{8,4096}\.eyJ[\w-]{8,16384}\.[\w-]{0,4096}", "RFC 7519; RFC 7515 section 3.1"),
)

_QUOTED = r"\\{0,15}[\"']([^\s\"'\\]{4,200})\\{0,15}[\"']"
_ECHO = r"echo[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4})?\\{0,15}[\"']?([^\s\"'|&;<>()`\\]{4,200})\\{0,15}[\"']?[ \t]{0,4}"
# Commands that take a password without naming it: a literal that stands in the text, one that the pattern begins at
# (both in lower case), and the pattern with the password in group 1.
COMMANDS = (
    ("curl", "curl",
        r"curl\b[^\n|;]{0,400}?[ \t](?:-u|--(?:proxy-)?user)[ =]?[\"']?[^\s:\"'\[{=]{1,100}:([^\s\"']{1,200})"),
    ("sshpass", "sshpass", r"sshpass[ \t]{1,4}-p[ \t]?[\"']?([^\s\"']{1,200})"),
    ("docker login", "docker login", r"docker login\b[^\n|;]{0,200}?[ \t]-p[ \t]{1,4}[\"']?([^\s\"']{1,200})"),
    ("mysql", "mysql",
        r"mysql(?:dump|admin)?\b[^\n|;]{0,200}?[ \t]-p(?!ort|rint|rotocol|\W)([^\s\"']{4,200})"),
    ("machine ", "machine ",
        r"machine[ \t]{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,200})"),
    ("-pass", "-pass", r"-pass(?:in|out)?[ \t=]{1,4}[\"']?pass:([^\s\"'<>`\\]{1,200})"),
    ("identified by", "identified by",
        r"(?:(?-i:IDENTIFIED BY)|identified by(?=[^\n\d]{1,99}\d))[ \t]{1,4}(?:password[ \t]{1,4})?" + _QUOTED),
    ("identified with", "identified with", r"identified with[ \t]{1,4}\S{1,60}[ \t]{1,4}by[ \t]{1,4}" + _QUOTED),
    ("sudo -", "echo ",
        _ECHO +
        r"\|[ \t]{0,4}sudo(?:[ \t]{1,4}-(?:[ugprt][ \t]{1,4}[\w.-]{1,32}|[\w-]{1,40})){0,4}?[ \t]{1,4}"
        r"(?:-(?-i:[A-Za-z]{0,4}S)|--stdin)(?!\w)"),
    ("-stdin", "echo ",
        _ECHO +
        r"\|[^\n|;]{1,200}?[ \t]--password-stdin(?!\w)"),
    (":5432:", ":5432:", r":5432:[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s\"'`:]{4,200})(?!\S)"),
    ("*:*:*:", "*:*:*:", r"(?<![^\n])\*:\*:\*:[\w*.@-]{1,64}:([^\s\"'`:]{4,200})(?!\S)"),
)
# fmt: on
# One of these stands in every such command.
COMMAND_HINTS = "curl sshpass mysql machine docker -pass identified sudo -stdin :5432: *:*:*:"
# Calls that give a value to a name: define('DB_PASSWORD', 'x'), setenv("API_KEY", "x").
GIVERS = (
    r"(?:define|putenv|put|append|add_?(?:header)?|header|field|param|env|set_?(?:env|default|header|property|item)?"
    r"|set_?request_?header)"
)

# Last words of a name, without what joins them, and what the name then holds; the first that fits counts.
NAME_ENDS = {
    "secretaccesskey": "aws-secret-key",
    "password": "password", "passwd": "password", "passwort": "password", "passphrase": "password",
    "pwd": "password",
    "credential": "credential", "credentials": "credential",
    "secret": "secret", "secretkey": "secret",
    "apikey": "api-key", "accesskey": "api-key", "privatekey": "api-key", "encryptionkey": "api-key",
    "signingkey": "api-key", "accountkey": "api-key", "authkey": "api-key", "masterkey": "api-key",
    "servicekey": "api-key", "sharedkey": "api-key", "subscriptionkey": "api-key",
    "token": "token",
}  # fmt: skip
# A name may end in one of these and still be that name: DB_PASSWORD_PROD, password2, SECRET_KEY_BASE.
NAME_TAILS = frozenset(
    "prod production dev test staging live base value old new confirmation confirm repeat".split()
)
# Tokens that are no secret: those of parsers, of pages and of language models.
OTHER_TOKENS = frozenset(
    "next page cancel cancellation continuation pad eos bos sep cls mask unk max min stop start end special sync "
    "per last first prev previous current input output".split()
)
# A token's name in one word, which else would end like `detoken`.
GLUED_TOKENS = tuple("accesstoken apitoken authtoken bearertoken bottoken refreshtoken sessiontoken".split())
# One of these stands in every such name.
NAME_HINTS = "passw passphrase _pass -pass pwd secret token key credential"

# How a value begins that only keeps a place.
PLACEHOLDER = (
    r"\$(?:[({]|\w*$)|<[^<>]*>?$|:?\*+\w*$|[•…]|\.{3}|#?\{|%\(|%\w+%|%[sdrv]$|\[redacted|ENC\[|@\w+@$|x{3,}[\w-]*$"
    r"|!(?:vault|secret|ref|sub|env)\b|os\.(?:environ|getenv)|process\.env|env[\[.(]|getpass|secrets\.|var\.|data\."
)
# Words that stand where a value would, and say that there is none.
NO_VALUES = frozenset(
    "none null nil undefined true false yes no empty string str text bytes int bool any object optional unknown "
    "password passwd passphrase secret token key apikey api_key value required hidden masked redacted private todo "
    "tbd changeme change-me change_me replaceme placeholder example dummy foobar inherit default prompt ask "
    "number boolean varchar secretstr self this input stdin invalid incorrect wrong missing expired".split()
)
# Words that follow `Authorization:` where it is only talked about.
AUTHORIZATION_WORDS = frozenset("authentication auth scheme header tokens bearer".split())
# Words that follow a flag or a colon in a sentence.
PROSE = frozenset(
    "to is are was be for and or with from in on at the a an of not must should can will may if when then that "
    "this it as by option options flag flags argument arguments field fields your my their its instead".split()
)
# Words of which one makes a text with blanks a form's label or a message, not a passphrase.
LABEL_WORDS = frozenset(
    "password passwort secret key token must enter your is the required invalid please not".split()
)
