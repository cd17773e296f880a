"""How services count what of a prompt was cached, by the longest beginning that it shares."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """Nothing below `least_tokens`, then whole steps."""

    least_tokens: int
    step_tokens: int

    def counted(self, shared: int) -> int:
        if shared < self.least_tokens:
            return 0
        return shared // self.step_tokens * self.step_tokens


DOCUMENTED = Rule(least_tokens=1024, step_tokens=128)
SEEN = Rule(least_tokens=0, step_tokens=64)


@dataclass
class PromptCache:
    """Every prompt so far, of all sessions. `hits` keeps what was asked and what was cached."""

    rule: Rule = DOCUMENTED
    prompts: list[list[str]] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)

    def cached(self, prompt: list[str], prefix_tokens: int) -> int:
        longest = max((_shared(prompt, earlier) for earlier in self.prompts), default=0)
        self.prompts.append(prompt)
        cached = self.rule.counted(longest)
        self.hits.append(Hit(len(prompt), prefix_tokens, cached))
        return cached


@dataclass(frozen=True, slots=True)
class Hit:
    prompt_tokens: int
    prefix_tokens: int
    cached_tokens: int

    @property
    def prefix_share(self) -> float:
        """How much of tools and instructions was cached."""
        return min(1.0, self.cached_tokens / self.prefix_tokens)


def tokens(text: str) -> list[str]:
    """Four characters each: what matters is where two prompts part."""
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def _shared(one: list[str], other: list[str]) -> int:
    for count, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return count
    return min(len(one), len(other))
